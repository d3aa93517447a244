#pragma once

// What ReplayAhead and ReplayLanes share: both replay one call of members that only put, without events but arrivals.

#include "coll/model/rank_batches.hpp"
#include "coll/model/replay_state.hpp"

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>

namespace aqueduct::coll {

/// A member's processor.
struct ReplayedProcessor {
  Picoseconds now = 0;      ///< it is busy until then, or waits since then
  Picoseconds sources = 0;  ///< when all puts so far have left
  Picoseconds ended = kNever;
  Picoseconds busy = 0;

  /// Posts a put or a signal of `bytes` bytes in one message. Returns the time at which they have left.
  [[gnu::always_inline]] Picoseconds post(ReplayState& state, Rank rank, const Brief& step,
                                          std::uint64_t bytes) {
    const Picoseconds overhead = state.ports.between(rank, step.peer, bytes).overhead;
    now = state.work(rank, busy, now, overhead, Watcher::What::post, step.peer, bytes);
    const Picoseconds left = state.ports.hand_over(rank, now, bytes,
                                                   {.bytes = bytes,
                                                    .rank = step.peer,
                                                    .counter = step.raise,
                                                    .add = step.add,
                                                    .kind = ReplayEvent::Kind::put});
    if (bytes > 0) sources = std::max(sources, left);
    return left;
  }

  /// Copies or reduces.
  void work(ReplayState& state, Rank rank, const Brief& step) {
    const Picoseconds length = state.local_time(step);
    if (length == 0) return;
    const auto what = step.kind == Step::Kind::copy ? Watcher::What::copy : Watcher::What::reduce;
    now = state.work(rank, busy, now, length, what, kNoRank, step.bytes * step.runs);
  }
};

/// Goes through the windows of time. In each, each(events, sure) is called for every rank with events, which are in order;
/// whatever arrives until `sure` is known. Ends when nothing is under way, when the replay fails, or when `fits` is false.
/// `members`: what `each` accesses of a rank, for a cache.
template <class Member, class Each>
void replay_arrivals(ReplayState& state, const LargeVector<Member>& members, const bool& fits,
                     const Each& each) {
  Ports& ports = state.ports;
  RankBatches batches(state.ranks);
  while (fits && state.goes_on()) {
    const std::uint64_t window = ports.first_window();
    if (window == Calendar<ReplayEvent>::kNone) break;
    if (ports.heads().first() == window) {
      LargeVector<ReplayEvent> events = ports.heads().take();
      const Picoseconds sure = ports.end_of(window) - 1;
      const auto in_order = [&](std::span<ReplayEvent> of_rank) {
        sort_events(of_rank);
        each(of_rank, sure);
      };
      batches.deal(events, in_order,
                   [&](const ReplayEvent& event) { return state.touched(event, &members[event.rank]); });
      ports.heads().recycle(std::move(events));
    }
    ports.route(window);
  }
}

}  // namespace aqueduct::coll
