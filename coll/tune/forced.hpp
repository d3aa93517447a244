#pragma once

#include "coll/tune/fit.hpp"

#include <array>

namespace aqueduct::coll {

/// What the user's settings say about an operation.
struct Forced {
  const Algorithm* algorithm = nullptr;  ///< null: the table chooses
  WantedParameters wanted{};             ///< 0: not said
};

/// [operation]
using ForcedAlgorithms = std::array<Forced, 12>;
static_assert(static_cast<std::size_t>(Operation::permute) + 1 == ForcedAlgorithms().size());

}  // namespace aqueduct::coll
