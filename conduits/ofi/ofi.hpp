#pragma once

#include "core/network.hpp"

namespace aqueduct::conduits::ofi {

extern const core::ConduitEntry ofi_entry;

}  // namespace aqueduct::conduits::ofi
