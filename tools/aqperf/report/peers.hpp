#pragma once

#include <aqueduct/endpoint.hpp>

#include <string>

namespace aqueduct::perf {

/// In words: one line for each other rank with what its conduit reports about it; then how
/// many transfers of pieces each plan has done.
std::string describe_peers(Endpoint& ep);

}  // namespace aqueduct::perf
