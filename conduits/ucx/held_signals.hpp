#pragma once

#include <aqueduct/rank.hpp>
#include <aqueduct/signal.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace aqueduct::conduits::ucx {

/// Signals that came outside of a poll. They add up by their counters, so that any number of them takes no more memory than
/// there are counters, and holding one takes none anew.
class HeldSignals {
 public:
  explicit HeldSignals(std::size_t slots) : sums_(slots) { raised_.reserve(slots); }

  bool empty() const noexcept { return raised_.empty(); }

  /// False: there is no such counter.
  bool add(Rank from, Signal signal) noexcept {
    if (signal.slot >= sums_.size()) return false;
    Sum& sum = sums_[signal.slot];
    if (!sum.raised) raised_.push_back(signal.slot);
    sum = {sum.add + signal.add, from, true};
    return true;
  }

  /// Calls `deliver(from, signal)` once for each counter, where `from` is who raised it last; returns how many.
  template <class Deliver>
  int take_all(const Deliver& deliver) {
    const auto count = static_cast<int>(raised_.size());
    for (const SignalSlot slot : raised_) {
      const Sum sum = std::exchange(sums_[slot], {});
      deliver(sum.from, Signal{slot, sum.add});
    }
    raised_.clear();
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
};

}  // namespace aqueduct::conduits::ucx
