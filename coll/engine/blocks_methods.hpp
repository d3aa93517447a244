#pragma once

#include "coll/engine/call_record.hpp"

#include <array>

namespace aqueduct::coll {

/// How a team carries out operations whose blocks may differ. Chosen from what all members share, once, at the first call.
struct BlocksMethods {
  Method comparing;  ///< of the all-reduce of BlockLengths
  std::array<std::uint64_t, 5>
      pieces{};  ///< [operation, from permute on] bytes of each block in a run; 0: not asked for yet
};

}  // namespace aqueduct::coll
