#pragma once

#include <cstdint>

namespace aqueduct {

/// One endpoint of a job, numbered 0 … ranks - 1. A process may hold several.
using Rank = std::uint32_t;

/// No rank: the rank of a default-constructed GlobalPtr, and the peer of a Status without one.
inline constexpr Rank kNoRank = ~Rank{0};

/// Any rank: for calls that can wait for more than one peer.
inline constexpr Rank kAnyRank = ~Rank{0} - 1;

}  // namespace aqueduct
