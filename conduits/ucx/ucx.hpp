#pragma once

#include "core/network.hpp"

namespace aqueduct::conduits::ucx {

extern const core::ConduitEntry ucx_entry;

}  // namespace aqueduct::conduits::ucx
