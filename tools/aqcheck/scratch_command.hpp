#pragma once

#include <aqueduct/rank.hpp>

#include <cstdint>

namespace aqueduct::aqcheck {

/// aqcheck --scratch: which teams, and how many of the pairs.
struct ScratchOptions {
  Rank least = 2;
  Rank most = 5;
  std::uint32_t share = 1;  ///< one pair in so many, by chance
  std::uint32_t seed = 0;
  bool mutations = false;  ///< makes each mistake of the protocol, in every member
};

/// Prints what it has found. Returns the status for the shell: 1 if a pair is wrong, or a mistake is not found; 2 if nothing was
/// looked at.
int run_scratch(const ScratchOptions& options);

}  // namespace aqueduct::aqcheck
