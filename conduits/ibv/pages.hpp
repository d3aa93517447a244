#pragma once

#include "core/conduit.hpp"

namespace aqueduct::conduits::ibv {

/// Has the system give memory all its pages, large ones if wanted and to be had, on several threads if there is much. Registering
/// needs them all; one after the other it would take several times as long. What the memory holds stays.
void populate(core::MutableBytes memory, bool large) noexcept;

/// Has the system give memory its pages, to be written. False: it cannot be, or the system does not know the question
/// (Linux before 5.14).
bool give_pages(core::MutableBytes memory) noexcept;

}  // namespace aqueduct::conduits::ibv
