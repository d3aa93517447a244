#pragma once

#include "core/conduit.hpp"

#include <string>
#include <vector>

namespace aqueduct::conduits::ucx {

/// Whether the network itself can put to memory of this packed key, through an endpoint of which UCX prints these lines.
///
/// UCX has no call that answers this. It prints a line "put[N]" for each lane N that can put, and with each lane the memory
/// domain of the peer that it leads to. A packed key starts with a mask of the domains in which the memory is registered.
bool has_put_lane(const std::vector<std::string>& endpoint, core::Bytes packed_key);

}  // namespace aqueduct::conduits::ucx
