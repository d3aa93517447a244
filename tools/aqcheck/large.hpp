#pragma once

#include "tools/aqcheck/check.hpp"

#include <array>

namespace aqueduct::aqcheck {

/// Sizes above 64, about powers of two and of ten, at which all algorithms are looked at by check_large.
inline constexpr std::array<Rank, 13> kLargeTeams{65,  96,  100,  127,  128,  129, 255,
                                                  256, 257, 1000, 1023, 1024, 1025};

/// A lighter check, which keeps no symbols: for teams too large for check(). It proves for this shape that each step is
/// legal and within the declared memory, that each wait is for all that is added to its counter, that every execution
/// ends, and that messages, bytes and depth are those of the formula and of the study. It says nothing of the result and
/// of the order of accesses.
///
/// Memory: 32 bytes for a step.
Verdict check_large(const Case& checked, const Change& change = nullptr);

}  // namespace aqueduct::aqcheck
