#pragma once

#include "conduits/ibv/verbs.hpp"

namespace aqueduct::conduits::ibv {

/// What the device can do with memory that is not pinned: it gets the pages when it needs them, as a processor does.
struct Paging {
  bool transfers = false;  ///< puts and gets over reliable connections, from and to such memory
  bool atomics = false;    ///< these too
};

/// "no on-demand paging": for people.
const char* text_of(const Paging& paging) noexcept;

/// Asks an open device.
Paging paging_of(const Verbs& verbs, ibv_context& context) noexcept;

}  // namespace aqueduct::conduits::ibv
