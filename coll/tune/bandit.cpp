#include "coll/tune/bandit.hpp"

#include <algorithm>

namespace aqueduct::coll {

namespace {

// All of these are chosen; tests/unit/coll/bandit_test.cpp and `aqtune --regret` show what they lead to.

/// Between two trials, and between the last one and the end of an epoch: one call in 17 is a trial at most.
constexpr std::uint32_t kApart = 17;
constexpr std::uint32_t kShortest = kApart + 1;
constexpr std::uint32_t kLongest = 512;
/// Of an epoch without a trial.
constexpr std::uint32_t kRest = 64;

/// A candidate whose first trial takes less than 3/2 of the best one's time is tried twice more.
constexpr bool is_close(std::uint64_t time, std::uint64_t best) noexcept { return time * 2 < best * 3; }
/// 3 % are more than noise between medians, and a change costs the calls' kept methods.
constexpr bool is_better(std::uint64_t time, std::uint64_t best) noexcept { return time * 100 < best * 97; }
constexpr bool is_worse_than_before(std::uint64_t now, std::uint64_t before) noexcept {
  return now * 2 > before * 3;
}
/// Trials may cost one call in 200, and ten calls at the beginning.
constexpr bool may_lose(std::uint64_t lost, std::uint64_t spent, std::uint64_t call) noexcept {
  return lost <= spent / 200 + 10 * call;
}

}  // namespace

std::uint64_t Bandit::Samples::median() const noexcept {
  if (count == 0) return kUnknown;
  std::array<std::uint64_t, kSamples> sorted = kept;
  const auto end = sorted.begin() + static_cast<std::ptrdiff_t>(std::min<std::size_t>(count, kSamples));
  const auto middle = sorted.begin() + (end - sorted.begin()) / 2;
  std::nth_element(sorted.begin(), middle, end);
  return *middle;
}

Bandit::Bandit(std::size_t candidates)
    : times_(candidates, kUnknown), tried_(candidates, false), longest_(kShortest) {
  begin(kNone, 0, 2 * kApart);  // what the others are compared with
}

Bandit::Due Bandit::due() const noexcept {
  if (times_.size() < 2) return Due::nothing;
  if (call_ == epoch_.calls) return Due::go_on;
  return call_ + kApart == epoch_.calls && !combining_ ? Due::combine : Due::nothing;
}

Bandit::Words Bandit::words() noexcept {
  combining_ = true;
  return {best_samples_.median(), samples_.median()};
}

/// The last trial of an epoch is the last call before the members combine.
bool Bandit::is_trial(std::uint32_t call) const noexcept {
  for (std::uint32_t back = 0; back < epoch_.trials; ++back) {
    if (call + 1 + kApart * (back + 1) == epoch_.calls) return true;
  }
  return false;
}

std::size_t Bandit::next() noexcept {
  if (times_.size() < 2) return 0;
  const bool trial = is_trial(call_++);
  if (trial) ++trials_;
  return trial ? epoch_.candidate : best_;
}

void Bandit::take_back() noexcept {
  if (times_.size() >= 2 && is_trial(--call_)) --trials_;
}

void Bandit::took(std::size_t candidate, std::uint64_t time) noexcept {
  if (candidate == best_)
    best_samples_.add(time);
  else if (candidate == epoch_.candidate)
    samples_.add(time);
}

bool Bandit::go_on(const Words& all) noexcept {
  const std::uint64_t best = std::min(all[0], kUnknown);
  const std::uint64_t other = std::min(all[1], kUnknown);
  const Epoch ended = epoch_;
  const bool became_slow =
      times_[best_] != kUnknown && best != kUnknown && is_worse_than_before(best, times_[best_]);
  if (best != kUnknown) {
    times_[best_] = best;
    spent_ += best * ended.calls;
  }
  if (became_slow) try_all_again();
  if (ended.trials == 0 || best == kUnknown || other == kUnknown) {
    begin_with_another();
    return false;
  }
  times_[ended.candidate] = other;
  if (other > best) lost_ += (other - best) * ended.trials;
  if (ended.trials == 1 && is_close(other, best)) {
    begin(ended.candidate, 2, kApart * 2 + 1);
    return false;
  }
  const bool better = ended.trials > 1 && is_better(other, best);
  if (better) {
    best_ = ended.candidate;
    best_samples_ = samples_;
    try_all_again();
  }
  begin_with_another();
  return better;
}

void Bandit::try_all_again() noexcept {
  std::fill(tried_.begin(), tried_.end(), false);
  settled_ = false;
  longest_ = kShortest;
}

void Bandit::begin(std::size_t candidate, std::uint32_t trials, std::uint32_t calls) noexcept {
  if (candidate != epoch_.candidate) samples_ = {};
  epoch_ = {calls, trials, candidate};
  call_ = 0;
  combining_ = false;
}

void Bandit::begin_with_another() noexcept {
  if (times_.size() < 2) return;
  if (times_[best_] != kUnknown && !may_lose(lost_, spent_, times_[best_])) return begin(kNone, 0, kRest);
  std::size_t candidate = another();
  if (candidate == kNone) {
    settled_ = true;
    std::fill(tried_.begin(), tried_.end(), false);
    longest_ = std::min(longest_ * 2, kLongest);
    candidate = another();
  }
  tried_[candidate] = true;
  samples_ = {};
  begin(candidate, 1, longest_);
}

/// The next one to be tried: those that never were, in their order, then the fastest. kNone: all have been tried.
std::size_t Bandit::another() const noexcept {
  std::size_t found = kNone;
  for (std::size_t i = 0; i < times_.size(); ++i) {
    if (i == best_ || tried_[i]) continue;
    if (times_[i] == kUnknown) return i;
    if (found == kNone || times_[i] < times_[found]) found = i;
  }
  return found;
}

std::size_t Bandit::runner_up() const noexcept {
  std::size_t found = kNone;
  for (std::size_t i = 0; i < times_.size(); ++i) {
    if (i == best_ || times_[i] == kUnknown) continue;
    if (found == kNone || times_[i] < times_[found]) found = i;
  }
  return found;
}

}  // namespace aqueduct::coll
