#include "coll/tune/bandit.hpp"

#include <algorithm>
#include <utility>

namespace aqueduct::coll {

namespace {

// All of these are chosen; tests/unit/coll/bandit_test.cpp and `aqtune --regret` show what they lead to.

/// Calls of an epoch with a trial: so much later the members go on by what the trial has shown.
constexpr std::uint32_t kEpoch = 16;
/// From one trial to the next: one call in 17 is a trial at most.
constexpr std::uint32_t kApart = 17;
constexpr std::uint32_t kBefore = kApart - kEpoch;  // calls before each epoch with a trial
/// Calls for which there is time to combine, in an epoch without a trial.
constexpr std::uint32_t kCombining = kEpoch - 1;
/// Calls between the trials of two candidates, once all have been tried; also of an epoch without one, at most.
constexpr std::uint32_t kLongest = 512;
/// Of an epoch without a trial, at least. A best one that becomes slow has 7 slow calls at most that the median does not show
/// when the members combine. After another epoch of this length they do so again, kCombining calls later they know, and an
/// epoch with a trial later they change: 7 + 1 + 19 + 15 + 17 = 59 calls, of which 1 is a trial among those 7.
constexpr std::uint32_t kWatch = 19;
/// Calls of a best one in doubt between a trial and the combining: they show that it was still slow after the trial. Without them
/// a trial right after a disturbance of the machine would look better than all calls during it.
constexpr std::uint32_t kAfterTrial = 2;
/// While nothing is tried, combining may take 1/400 of the time of the calls.
constexpr std::uint64_t kWatchPart = 400;

/// A candidate whose first trial takes less than 3/2 of the best one's time is tried so often, and then the medians count.
constexpr std::uint32_t kTrials = 3;
constexpr bool is_close(std::uint64_t time, std::uint64_t best) noexcept { return time * 2 < best * 3; }
/// 3 % are more than noise between medians, and a change costs the calls' kept methods.
constexpr bool is_better(std::uint64_t time, std::uint64_t best) noexcept { return time * 100 < best * 97; }
/// When the best one is in doubt, a single trial is enough if the difference is as great as the doubt.
constexpr bool is_much_better(std::uint64_t time, std::uint64_t best) noexcept { return time * 3 < best * 2; }
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

std::uint64_t Bandit::Samples::least_of_last(std::size_t number) const noexcept {
  std::uint64_t least = kUnknown;
  for (std::size_t i = 0; i < std::min(number, count); ++i)
    least = std::min(least, kept[(count - 1 - i) % kSamples]);
  return least;
}

Bandit::Bandit(std::size_t candidates)
    : times_(candidates, kUnknown), tried_(candidates, false), spacing_(kApart) {
  begin_watch(kSamples + kCombining);  // what the others are compared with
}

void Bandit::settle() noexcept {
  settled_ = true;
  spacing_ = kLongest;
}

Bandit::Due Bandit::due() const noexcept {
  if (times_.size() < 2) return Due::nothing;
  if (call_ == epoch_.calls) return Due::go_on;
  return call_ == epoch_.combine_at && !combining_ ? Due::combine : Due::nothing;
}

Bandit::Words Bandit::words(std::uint64_t cost) noexcept {
  combining_ = true;
  return {best_samples_.median(), samples_.median(), cost, best_samples_.least_of_last(kAfterTrial)};
}

bool Bandit::is_trial(std::uint32_t call) const noexcept {
  return epoch_.trial != 0 && call == epoch_.before;
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
  if (all[2] != 0) cost_ = std::min(cost_, all[2]);
  const Epoch ended = epoch_;
  const bool became_slow =
      times_[best_] != kUnknown && best != kUnknown && is_worse_than_before(best, times_[best_]);
  if (best != kUnknown) {
    times_[best_] = best;
    spent_ += best * ended.calls;
  }
  if (became_slow) {
    try_all_again();
    doubted_ = true;
  }
  if (ended.trial == 0 || best == kUnknown || other == kUnknown) {
    begin_next();
    return false;
  }
  times_[ended.candidate] = other;
  if (other > best) lost_ += other - best;
  // While the best one is in doubt, the next candidate is of more use than certainty about one that is no better.
  const bool promises = is_close(other, best) && (!doubted_ || is_better(other, best));
  const bool much_better = ended.after != 0 && is_much_better(other, std::min(best, all[3]));
  const bool goes_on = ended.trial == 1 ? promises && !much_better : ended.trial < kTrials;
  if (goes_on && !became_slow) {
    begin_trial(ended.candidate, ended.trial + 1, kBefore, 0);
    return false;
  }
  const bool better = much_better || (ended.trial == kTrials && is_better(other, best));
  if (better) {
    best_ = ended.candidate;
    best_samples_ = samples_;
    doubted_ = false;
    try_all_again();
  }
  begin_next();
  return better;
}

void Bandit::try_all_again() noexcept {
  std::fill(tried_.begin(), tried_.end(), false);
  settled_ = false;
  spacing_ = kApart;
  planned_ = kNone;
}

void Bandit::begin(const Epoch& epoch) noexcept {
  if (epoch.candidate != epoch_.candidate) samples_ = {};
  epoch_ = epoch;
  call_ = 0;
  combining_ = false;
}

/// Without a trial. The members begin to combine kCombining calls before its end.
void Bandit::begin_watch(std::uint32_t calls) noexcept { begin({0, calls, calls - kCombining, 0, 0, kNone}); }

void Bandit::begin_trial(std::size_t candidate, std::uint32_t trial, std::uint32_t before,
                         std::uint32_t after) noexcept {
  begin({before, before + kEpoch, before + 1 + after, trial, after, candidate});
}

/// Whether a trial may cost something. What is known to be faster than a best one in doubt is expected to cost nothing.
bool Bandit::may_try() const noexcept {
  const std::uint64_t best = times_[best_];
  return best == kUnknown || may_lose(lost_, spent_, best) || (doubted_ && times_[planned_] < best);
}

std::uint32_t Bandit::calls_of_watch() const noexcept {
  const std::uint64_t best = std::max<std::uint64_t>(times_[best_], 1);
  if (cost_ == kUnknown || best == kUnknown) return kWatch;
  return static_cast<std::uint32_t>(std::clamp<std::uint64_t>(cost_ * kWatchPart / best, kWatch, kLongest));
}

void Bandit::begin_next() noexcept {
  if (times_.size() < 2) return;
  if (planned_ == kNone) plan_another();
  const std::uint32_t watch = calls_of_watch();
  if (!may_try()) return begin_watch(watch);
  if (rest_ != 0 && rest_ + kApart > watch) {
    const std::uint32_t calls = std::clamp(rest_, kApart, watch);
    rest_ -= std::min(rest_, calls);
    return begin_watch(calls);
  }
  samples_ = {};
  begin_trial(std::exchange(planned_, kNone), 1, rest_ + kBefore, doubted_ ? kAfterTrial : 0);
}

void Bandit::plan_another() noexcept {
  planned_ = another();
  if (planned_ == kNone) {
    settled_ = true;
    doubted_ = false;
    std::fill(tried_.begin(), tried_.end(), false);
    spacing_ = std::min(spacing_ * 2, kLongest);
    planned_ = another();
  }
  tried_[planned_] = true;
  rest_ = spacing_ - kApart;
}

/// The next one to be tried: those that never were, in their order, then the fastest. If the best one is in doubt, what is known
/// to be fast comes first. kNone: all have been tried.
std::size_t Bandit::another() const noexcept {
  std::size_t found = kNone;
  for (std::size_t i = 0; i < times_.size(); ++i) {
    if (i == best_ || tried_[i]) continue;
    if (times_[i] == kUnknown && !doubted_) return i;
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
