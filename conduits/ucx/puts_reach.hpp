#pragma once

#include "core/conduit.hpp"

#include <string>
#include <vector>

namespace aqueduct::conduits::ucx {

/// Whether UCX puts bytes by itself through an endpoint of which it prints these lines, into memory of this packed key.
///
/// UCX has no call for that question. It prints a line "put[N]" for each lane N that can put, and with the lane which of the
/// peer's memory domains it leads to; a packed key starts with a mask of the domains that hold the memory.
bool puts_reach(const std::vector<std::string>& endpoint, core::Bytes packed_key);

}  // namespace aqueduct::conduits::ucx
