#pragma once

#include <aqueduct/endpoint.hpp>

#include <string>

namespace aqueduct::perf {

/// In words: one line for each other rank with what its conduit reports about it; then the counters of this rank's
/// statistics that are not zero.
std::string describe_peers(Endpoint& ep);

}  // namespace aqueduct::perf
