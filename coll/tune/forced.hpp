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
using ForcedAlgorithms = std::array<Forced, 16>;
static_assert(static_cast<std::size_t>(Operation::all_to_all_v) + 1 == ForcedAlgorithms().size());

}  // namespace aqueduct::coll
