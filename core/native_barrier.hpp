#pragma once

#include <aqueduct/rank.hpp>

#include "core/barrier_vote.hpp"

#include <cstdint>
#include <vector>

namespace aqueduct::core {

/// A conduit's barrier over a fixed set of ranks. Its phases are numbered 1, 2, …
class NativeBarrier {
 public:
  virtual ~NativeBarrier() = default;
  /// This rank has arrived at `phase`, with this vote. Called once for each phase, in order, after the phase before was
  /// reached and its result was read. A rank that knows of a lost member notifies no further phase. Does not block.
  virtual void notify(std::uint64_t phase, BarrierVote vote) noexcept = 0;
  /// Whether all members have notified `phase`. Called repeatedly while a rank waits, so it must be cheap.
  virtual bool reached(std::uint64_t phase) noexcept = 0;
  /// The votes of all members, merged: the same on all of them. Called once `phase` is reached, before the next notify.
  virtual BarrierVote result(std::uint64_t phase) noexcept = 0;
  /// For the stall report: the members that have not notified `phase`, as far as this rank can know.
  virtual std::vector<Rank> missing(std::uint64_t) const { return {}; }
  /// The team ends on all members: each has read the result of the last phase, and calls this once before it destroys
  /// the barrier. What the barrier used may serve another team. Without this call it stays in use until the job ends,
  /// because other members may still use the barrier.
  virtual void give_back() noexcept {}
};

}  // namespace aqueduct::core
