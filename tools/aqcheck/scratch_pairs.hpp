#pragma once

#include "tools/aqcheck/scratch_world.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace aqueduct::aqcheck {

/// Two operations, one after the other in one team's scratch: a a b b a b. So each comes after itself and after the other,
/// both in the next bank and, with two banks, in the same one.
struct ScratchPair {
  Rank ranks = 0;
  Manner manner;
  std::vector<ScratchCall> calls;
};

/// Which pairs to look at.
struct PairGrid {
  Rank ranks = 5;
  /// Every variant of both operations: parameters, roots, sizes, sync modes. Otherwise each pair of algorithms with one
  /// variant of each, which changes from pair to pair. So do the late member, the order of messages and the size of banks.
  bool all = false;
};

/// Calls `visit` for each pair. It returns whether to go on.
void for_each_pair(const PairGrid& grid, const std::function<bool(const ScratchPair&)>& visit);

/// Executes the calls of a pair. Empty if every byte and counter belonged to one operation at a time and all ended with the
/// right results; otherwise what happened.
///
/// The late member makes a step only when nobody else can: it is behind by as much as the protocol allows. This and the
/// orders of messages are not all orders; the property tests (tests/unit/coll/scratch_test.cpp) take others by chance.
std::string check_pair(const ScratchPair& pair, const ScratchMistake& mistake = {});

/// "broadcast flat from 2 of 64 bytes, then all_gather ring of 5 bytes; 5 members, 1 late, newest first, own epochs"
std::string describe(const ScratchPair& pair);

}  // namespace aqueduct::aqcheck
