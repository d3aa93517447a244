#pragma once

#include "vis/piece_transfers.hpp"

#include <vector>

namespace aqueduct::vis {

/// A transfer of which at least one side has more than kMostDimensions dimensions: one transfer for each index of the
/// slowest dimensions, in a group. `there` and `here` are those dimensions, the outermost first; null: there are none.
/// A signal follows when all have completed, and the call waits for that.
Begun start_many(EndpointState& state, const Request& request, const std::vector<Dimension>* there,
                 const std::vector<Dimension>* here, Completion completion) noexcept;

}  // namespace aqueduct::vis
