#include "coll/scratch/epochs.hpp"

#include <bit>

namespace aqueduct::coll {

Epochs::Epochs(const ScratchLayout& layout, Rank ranks, Rank position, const CounterWords& counters,
               std::uint32_t reuse)
    : layout_(layout),
      ranks_(ranks),
      position_(position),
      counters_(counters),
      reuse_(reuse),
      first_clear_(layout.clear_counter(0)),
      told_(layout.clears() ? ranks : 0) {}

void Epochs::begin(std::uint64_t epoch, bool by_barrier) noexcept {
  at(present_).by_barrier = by_barrier;
  present_ = epoch;
  now_ = &at(epoch);
  at(epoch) = {};
  finish_epochs();
}

void Epochs::started(std::uint64_t epoch, Members senders) noexcept {
  if (epoch < reuse_ || by_barrier_before(epoch)) return;
  for (Members left = senders; left != 0; left &= left - 1) {
    const auto peer = static_cast<Rank>(std::countr_zero(left));
    if (told_[peer] + reuse_ <= epoch) owed_ |= Members{1} << peer;
  }
}

void Epochs::finish_epochs() noexcept {
  for (; finished_ < present_ && at(finished_).undrained == 0; ++finished_) {
    const Epoch& epoch = at(finished_);
    if (epoch.by_barrier) continue;
    owed_ |= epoch.senders;
    if (past_barriers_ == finished_) ++past_barriers_;
  }
}

std::optional<Raise> Epochs::due() noexcept {
  if (owed_ != 0) {
    const auto peer = static_cast<Rank>(std::countr_zero(owed_));
    return Raise{peer, layout_.clear_counter(position_), finished_ - told_[peer]};
  }
  return next_round();
}

std::optional<Raise> Epochs::next_round() noexcept {
  while (past_barriers_ < finished_) {
    if (at(past_barriers_).by_barrier) {
      // A count of arrivals is enough: a peer sends round r of one barrier before that of the next, so n arrivals show
      // that it has reached round r of the first n, in whatever order they came.
      while (round_sent_ && counters_.count(layout_.round_counter(round_)) > barriers_) {
        ++round_;
        round_sent_ = false;
      }
      if (round_sent_) return std::nullopt;
      if (round_ < layout_.rounds()) {
        const auto peer =
            static_cast<Rank>((std::uint64_t{position_} + (std::uint64_t{1} << round_)) % ranks_);
        return Raise{peer, layout_.round_counter(round_), 1};
      }
      ++barriers_;
      round_ = 0;
    }
    ++past_barriers_;
  }
  return std::nullopt;
}

void Epochs::sent(const Raise& raise) noexcept {
  if (!layout_.clears() || raise.counter != layout_.clear_counter(position_)) {
    round_sent_ = true;
    return;
  }
  told_[raise.peer] += raise.add;
  // Another epoch may have finished while the message was posted.
  if (told_[raise.peer] == finished_) owed_ &= ~(Members{1} << raise.peer);
}

}  // namespace aqueduct::coll
