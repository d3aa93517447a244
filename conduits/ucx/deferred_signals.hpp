#pragma once

#include <aqueduct/rank.hpp>
#include <aqueduct/signal_types.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace aqueduct::conduits::ucx {

/// Signals that arrived outside of a poll. They are added up per counter, so their memory is bounded by the number of counters
/// and allocated at the start.
class DeferredSignals {
 public:
  explicit DeferredSignals(std::size_t slots) : sums_(slots) {
    raised_.reserve(slots);
    taking_.reserve(slots);
  }

  bool empty() const noexcept { return raised_.empty(); }
  /// Whether there is such a counter.
  bool has(SignalSlot slot) const noexcept { return slot < sums_.size(); }

  /// False: there is no such counter.
  bool add(Rank from, Signal signal) noexcept {
    if (!has(signal.slot)) return false;
    Sum& sum = sums_[signal.slot];
    if (!sum.raised) raised_.push_back(signal.slot);
    sum = {sum.add + signal.add, from, true};
    return true;
  }

  /// Calls `deliver(from, signal)` once for each raised counter, where `from` is the rank that raised it last; returns how many.
  /// Signals that are added meanwhile wait for the next call.
  template <class Deliver>
  int take_all(const Deliver& deliver) {
    raised_.swap(taking_);
    const auto count = static_cast<int>(taking_.size());
    for (const SignalSlot slot : taking_) {
      const Sum sum = std::exchange(sums_[slot], {});
      deliver(sum.from, Signal{slot, sum.add});
    }
    taking_.clear();
    return count;
  }

 private:
  struct Sum {
    std::uint64_t add = 0;
    Rank from = kNoRank;
    bool raised = false;
  };
  std::vector<Sum> sums_;           // [slot]
  std::vector<SignalSlot> raised_;  // each once
  std::vector<SignalSlot> taking_;  // being delivered
};

}  // namespace aqueduct::conduits::ucx
