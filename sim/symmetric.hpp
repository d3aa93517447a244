#pragma once

#include "coll/model/replay.hpp"

#include <optional>

namespace aqueduct::sim {

/// Whether all members do the same as seen from themselves: each step goes to the same distance, or to the position with the same
/// bits turned over. Declared for the algorithms that do so, and tested (tests/unit/sim/simulate_test.cpp).
bool is_symmetric(const coll::Algorithm& algorithm) noexcept;

/// The replay of such an operation without events, to the same picosecond. If all call at once, one member stands for all;
/// otherwise it is done step by step, each for all members.
///
/// Nothing: the members differ for this shape (in the lengths of their messages, say), or messages reach a port in
/// another order than that of the steps. Then the replay with events must do it.
/// Requires: one level; no links, noise or watcher; Strided::whole.
/// Cost: O(steps of a member) if all call at once; otherwise O(steps · members), a nanosecond or two each.
std::optional<coll::Replayed> replay_symmetric(const coll::Algorithm& algorithm, const coll::Shape& shape,
                                               const coll::Machine& machine,
                                               std::span<const coll::Picoseconds> calls);

}  // namespace aqueduct::sim
