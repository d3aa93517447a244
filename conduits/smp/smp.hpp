#pragma once

#include "core/network.hpp"

namespace aqueduct::conduits::smp {

extern const core::ConduitEntry smp_entry;

}  // namespace aqueduct::conduits::smp
