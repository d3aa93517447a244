#pragma once

#include "coll/schedule/algorithm.hpp"

namespace aqueduct::coll {

/// Whether all members do the same as seen from themselves: each step goes to the same distance, or to the position with the same
/// bits turned over. Declared for the algorithms that do so, and tested (tests/unit/sim/simulate_test.cpp). For some shapes the
/// members differ all the same: `common_actions` (coll/model/symmetric_actions.hpp) finds that out.
bool is_symmetric(const Algorithm& algorithm) noexcept;

}  // namespace aqueduct::coll
