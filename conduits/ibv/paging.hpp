#pragma once

#include "conduits/ibv/verbs.hpp"

namespace aqueduct::conduits::ibv {

/// On-demand paging: what the device can do with memory that is not pinned. It takes page faults, as a CPU does.
struct Paging {
  bool transfers = false;  ///< puts and gets over reliable connections, from and to such memory
  bool atomics = false;    ///< atomics on such memory
};

/// For log messages: "no on-demand paging".
const char* text_of(const Paging& paging) noexcept;

/// Asks an open device.
Paging paging_of(const Verbs& verbs, ibv_context& context) noexcept;

}  // namespace aqueduct::conduits::ibv
