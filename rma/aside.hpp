#pragma once

#include "core/conduit.hpp"

namespace aqueduct::rma {

/// Others' atomics on this rank's memory, done where it does not look after its packets: core::Aside.
bool atomics_aside(core::Bytes packet, core::MutableBytes (*memory)(const void* what, SegmentId id) noexcept,
                   const void* what, core::AsideDone& done) noexcept;

}  // namespace aqueduct::rma
