#pragma once

#include "tools/aqcheck/check.hpp"

#include <string>

namespace aqueduct::aqcheck {

/// Compares what was counted with the algorithm's own formula, and with the study if that has the algorithm. Empty if
/// they agree.
std::string wrong_costs(const Case& checked, const Counted& counted);

}  // namespace aqueduct::aqcheck
