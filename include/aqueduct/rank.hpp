#pragma once

#include <cstdint>

namespace aqueduct {

/// One endpoint of a job, numbered 0 … ranks - 1. A process may hold several.
using Rank = std::uint32_t;

/// "No rank": what a default-constructed GlobalPtr and a Status without a peer carry.
inline constexpr Rank kNoRank = ~Rank{0};

/// "Whichever rank": accepted where a call can wait for anybody.
inline constexpr Rank kAnyRank = ~Rank{0} - 1;

}  // namespace aqueduct
