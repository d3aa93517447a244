#pragma once

#include "core/conduit.hpp"

namespace aqueduct::conduits::ibv {

/// Has the system give memory all its pages, large ones if wanted and to be had, on several threads if there is much. Registering
/// needs them all; one after the other it would take several times as long. What the memory holds stays.
void populate(core::MutableBytes memory, bool large) noexcept;

}  // namespace aqueduct::conduits::ibv
