#pragma once

#include "coll/model/narrow_links.hpp"
#include "coll/model/replay.hpp"

#include <optional>
#include <span>

namespace aqueduct::coll {

/// The replay of an operation in which all members do the same, as seen from themselves, without events, to the same picosecond. If all call at once, one member stands for all;
/// otherwise it is done step by step, each for all members.
///
/// Nothing: the members differ for this shape (in the lengths of their messages, say), or messages reach a port in
/// another order than that of the steps. Then the replay with events must do it.
/// With `links` the time is an estimate, for members that all call at once: each message arrives as the last one of its round does.
/// Requires: an algorithm of which `is_symmetric` says so (coll/algorithms/symmetric.hpp); one level; no noise or watcher; Strided::whole.
/// Cost: O(steps of a member) if all call at once; otherwise O(steps · members), a nanosecond or two each.
std::optional<Replayed> replay_symmetric(const Algorithm& algorithm, const Shape& shape,
                                         const Machine& machine, std::span<const Picoseconds> calls,
                                         NarrowLinks* links = nullptr);

}  // namespace aqueduct::coll
