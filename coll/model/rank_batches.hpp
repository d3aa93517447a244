#pragma once

#include "coll/model/loggp.hpp"
#include "coll/model/replay_event.hpp"

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace aqueduct::coll {

/// Deals the events of a window to the ranks at which they happen, or to their hosts. Those of one rank or host keep their
/// order.
class RankBatches {
 public:
  /// `by_hosts_of`: deals to the hosts of this machine, which outlives it; null: to ranks.
  explicit RankBatches(Rank ranks, const Machine* by_hosts_of = nullptr)
      : machine_(by_hosts_of), chain_(machine_ != nullptr ? machine_->hosts(ranks) : ranks, kEnd) {}

  /// Calls each(events) for every rank or host with events. `each` may change its events. touched(event) gives the addresses that
  /// `each` will access for an event: they are brought into the cache before.
  template <class Each, class Touched>
  void deal(std::span<ReplayEvent> events, const Each& each, const Touched& touched) {
    const auto count = static_cast<std::uint32_t>(events.size());
    if (next_.size() < count) next_.resize(count);
    touched_.clear();
    // In chains, the last first.
    for (std::uint32_t i = 0; i < count; ++i) {
      const Rank unit = machine_ == nullptr ? events[i].rank : machine_->host_of(events[i].rank);
      std::uint32_t& chain = chain_[unit];
      if (chain == kEnd) touched_.push_back(unit);
      next_[i] = std::exchange(chain, i);
    }
    for (std::size_t at = 0; at < touched_.size(); ++at) {
      if (at + kAhead < touched_.size()) {
        // Here, as g++ leaves out calls of functions that do nothing else.
        for (const void* const address : touched(events[chain_[touched_[at + kAhead]]]))
          __builtin_prefetch(address);
      }
      const Rank unit = touched_[at];
      const std::uint32_t last = std::exchange(chain_[unit], kEnd);
      if (next_[last] == kEnd) {
        each(std::span(&events[last], 1));
        continue;
      }
      batch_.clear();
      for (std::uint32_t i = last; i != kEnd; i = next_[i]) batch_.push_back(events[i]);
      std::reverse(batch_.begin(), batch_.end());
      each(std::span(batch_));
    }
  }

 private:
  static constexpr std::uint32_t kEnd = 0xffffffff;
  static constexpr std::size_t kAhead = 8;  // chosen: of 4, 8 and 16 the fastest

  const Machine* machine_;
  std::vector<std::uint32_t> chain_;  // [rank or host]
  std::vector<std::uint32_t> next_;   // [event]
  std::vector<Rank> touched_;         // ranks or hosts
  std::vector<ReplayEvent> batch_;
};

}  // namespace aqueduct::coll
