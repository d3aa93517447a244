#pragma once

#include <aqueduct/endpoint.hpp>

#include <string>

namespace aqueduct::perf {

/// A line for each other rank: what the conduit that leads there says of it; and how transfers of pieces went. For people.
std::string describe_peers(Endpoint& ep);

}  // namespace aqueduct::perf
