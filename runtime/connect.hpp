#pragma once

#include "runtime/describe.hpp"

#include <span>

namespace aqueduct::runtime {

/// Connects an endpoint to all others, adds its segments, whose parts on this rank are `mine`, and builds its layers.
Status connect_endpoint(Job::Impl& job, EndpointParts& parts, const GatheredData& gathered,
                        std::span<const LocalPart> mine);

}  // namespace aqueduct::runtime
