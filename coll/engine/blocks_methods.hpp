#pragma once

#include "coll/engine/call_record.hpp"
#include "coll/tune/chooser.hpp"

#include <array>
#include <cstdint>

namespace aqueduct::coll {

/// How a team carries out operations whose blocks may differ. Chosen from what all members share: at the first call, and when
/// the length of a call's longest block is known.
struct BlocksMethods {
  Method comparing;  ///< of the all-reduce of BlockLengths
  /// [operation, from permute on] Of `slots`, which serves every length: bytes of each block in a run; 0: not asked for yet.
  std::array<std::uint64_t, 5> pieces{};
  /// [likewise] How the last call has moved its blocks, and the length of its longest one; 0: there was none.
  struct Moved {
    std::uint64_t longest = 0;
    Choice choice;
  };
  std::array<Moved, 5> moved{};
};

/// The runs of a call of which nobody knows yet how many they are.
inline constexpr std::uint32_t kNotKnownYet = UINT32_MAX;

/// The algorithm that moves blocks of any length.
const Algorithm& slots_of_blocks(Collective operation) noexcept;
/// Of the run in which the ends of each pair tell each other their lengths.
Shape asking_shape(Rank ranks) noexcept;

}  // namespace aqueduct::coll
