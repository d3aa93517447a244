#pragma once

#include "coll/tune/chooser.hpp"

#include <cstdint>
#include <vector>

namespace aqueduct::perf {

/// The bytes that one member moves in a whole operation, by the peer's position.
struct CollEdges {
  std::vector<std::uint64_t> puts;
  std::vector<std::uint64_t> gets;
};

/// Adds up the steps of the chosen schedule. Requires: there is an algorithm.
CollEdges edges_of(const coll::Choice& choice, Rank position);

}  // namespace aqueduct::perf
