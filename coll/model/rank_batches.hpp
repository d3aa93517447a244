#pragma once

#include "coll/model/replay_event.hpp"

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace aqueduct::coll {

/// Deals the events of a window to the ranks at which they happen. Those of one rank keep their order.
class RankBatches {
 public:
  explicit RankBatches(Rank ranks) : chain_(ranks, kEnd) {}

  /// Calls each(rank, events) for every rank with events. `each` may change its events.
  template <class Each>
  void deal(std::vector<ReplayEvent>& events, const Each& each) {
    const auto count = static_cast<std::uint32_t>(events.size());
    if (next_.size() < count) next_.resize(count);
    touched_.clear();
    // In chains, the last first.
    for (std::uint32_t i = 0; i < count; ++i) {
      std::uint32_t& chain = chain_[events[i].rank];
      if (chain == kEnd) touched_.push_back(events[i].rank);
      next_[i] = std::exchange(chain, i);
    }
    for (const Rank rank : touched_) {
      const std::uint32_t last = std::exchange(chain_[rank], kEnd);
      if (next_[last] == kEnd) {
        each(rank, std::span(&events[last], 1));
        continue;
      }
      batch_.clear();
      for (std::uint32_t i = last; i != kEnd; i = next_[i]) batch_.push_back(events[i]);
      std::reverse(batch_.begin(), batch_.end());
      each(rank, std::span(batch_));
    }
  }

 private:
  static constexpr std::uint32_t kEnd = 0xffffffff;

  std::vector<std::uint32_t> chain_;  // [rank]
  std::vector<std::uint32_t> next_;   // [event]
  std::vector<Rank> touched_;
  std::vector<ReplayEvent> batch_;
};

}  // namespace aqueduct::coll
