#pragma once

#include "core/network.hpp"

namespace aqueduct::conduits::udp {

extern const core::ConduitEntry udp_entry;

}  // namespace aqueduct::conduits::udp
