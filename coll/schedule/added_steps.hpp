#pragma once

#include "coll/schedule/shape.hpp"
#include "coll/schedule/step.hpp"

#include <vector>

namespace aqueduct::coll {

/// The steps of the member at `position` in a shape of an added algorithm: `build` runs twice, and not for each of them.
std::vector<Step> all_steps(const Shape& shape, Rank position);

}  // namespace aqueduct::coll
