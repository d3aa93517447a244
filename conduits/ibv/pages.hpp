#pragma once

#include "core/conduit.hpp"

namespace aqueduct::conduits::ibv {

/// Makes the system allocate all pages of the memory before it is registered, on several threads if it is large.
/// Registering needs all pages, and would allocate them one by one, which takes several times as long. `large`: large
/// pages, if the system has some. Contents stay.
void populate(core::MutableBytes memory, bool large) noexcept;

/// Makes the system allocate the pages for writing. False: the memory cannot be written, or the system lacks the call
/// (Linux before 5.14).
bool give_pages(core::MutableBytes memory) noexcept;

}  // namespace aqueduct::conduits::ibv
