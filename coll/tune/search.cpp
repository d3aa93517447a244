#include "coll/tune/search.hpp"

#include <algorithm>
#include <array>
#include <numeric>

namespace aqueduct::coll {

namespace {

// All of these are chosen; docs/tuning.md has what they lead to, with and without noise.

constexpr std::uint32_t kFewest = 3;  // repetitions, whatever the time: fewer have no median worth the name
/// Of the best two, if there is time: `decided` needs as many.
constexpr std::uint32_t kFewestOfBest = 5;
/// How unlikely it must be that a candidate is better (has_no_prospects): to be dropped, and for a result to be decided.
constexpr std::uint64_t kLikely = 3;
constexpr std::uint64_t kCertain = 12;
/// In percent: a winner may be so much slower than the best one.
constexpr std::uint64_t kGoodEnough = 5;

/// A look at what was measured: after how many repetitions, how many of the best stay in any case, and how much slower in percent
/// the others must be to be dropped. 0: by the spread of their times.
struct Look {
  std::uint32_t repetitions;
  std::size_t least;
  std::uint64_t slower;
};
// The first call of each also makes what is kept for it. Two calls of each say little where ranks wait for processors, so the
// best four go on.
constexpr std::array kLooks{Look{2, 4, 25}, Look{3, 2, 10}, Look{kFewestOfBest, 1, 0},
                            Look{7, 1, 0},  Look{10, 1, 0}, Look{14, 1, 0},
                            Look{20, 1, 0}, Look{28, 1, 0}, Look{kMostRepetitions, 1, 0}};

/// A candidate in the race.
struct Runner {
  std::size_t number;
  Samples samples;
  std::uint64_t time = 0;    ///< the median; of two, the lesser
  std::uint64_t spread = 0;  ///< between the quartiles

  /// Returns the time that these have taken.
  std::uint64_t add(const Samples& more);
};

std::uint64_t Runner::add(const Samples& more) {
  samples.insert(samples.end(), more.begin(), more.end());
  Samples sorted = samples;
  std::sort(sorted.begin(), sorted.end());
  time = sorted[samples.size() > 2 ? sorted.size() / 2 : 0];
  spread = sorted[sorted.size() * 3 / 4] - sorted[sorted.size() / 4];
  return std::accumulate(more.begin(), more.end(), std::uint64_t{0});
}

bool is_ahead(const Runner& a, const Runner& b) noexcept { return a.time < b.time; }

/// Whether each of its times is longer than every time of the leader's, and its median by more than `slower` percent. The
/// leader's first call does not count: it also prepares what later calls use again.
bool is_left_behind(const Runner& one, const Runner& leader, std::uint64_t slower) {
  const std::uint64_t least = *std::min_element(one.samples.begin(), one.samples.end());
  const std::uint64_t most = *std::max_element(leader.samples.begin() + 1, leader.samples.end());
  return least > most && (one.time - leader.time) * 100 > leader.time * slower;
}

/// Whether it is unlikely to be faster than the leader by more than is good enough: the medians would have to be wrong by so many
/// standard deviations of their difference. For times that are normally distributed, 1.85 of them are sqrt(3 (a^2 + b^2) / n), with the
/// spreads a and b of n samples each; 3.7 of them sqrt(12 (a^2 + b^2) / n).
bool has_no_prospects(const Runner& one, const Runner& leader, std::uint64_t certainty) noexcept {
  std::uint64_t off = one.time - leader.time + leader.time * kGoodEnough / 100;
  std::uint64_t a = one.spread;
  std::uint64_t b = leader.spread;
  while (std::max({off, a, b}) >> 28 != 0) {  // squares have room
    off /= 2;
    a /= 2;
    b /= 2;
  }
  return off * off * one.samples.size() >= certainty * (a * a + b * b);
}

/// `field` is sorted. Of the last two the second goes only when the result is decided.
void drop(std::vector<Runner>& field, const Look& look) {
  const std::uint64_t certainty = field.size() == 2 ? kCertain : kLikely;
  std::vector<Runner> kept;
  for (Runner& one : field) {
    const bool goes =
        kept.size() >= look.least && (look.slower != 0 ? is_left_behind(one, kept.front(), look.slower)
                                                       : has_no_prospects(one, kept.front(), certainty));
    if (!goes) kept.push_back(std::move(one));
  }
  field = std::move(kept);
}

/// Up to this look, or as many as there is time for.
std::uint32_t repetitions(const Look& look, std::uint32_t done, std::uint64_t left,
                          const std::vector<Runner>& field) noexcept {
  const std::uint32_t wanted = look.repetitions - done;
  if (done == 0) return wanted;
  std::uint64_t each = 0;
  for (const Runner& one : field) each += one.time;
  const std::uint64_t fits = std::min<std::uint64_t>(left / std::max<std::uint64_t>(each, 1), wanted);
  return std::max(static_cast<std::uint32_t>(fits), done < kFewest ? kFewest - done : 0);
}

}  // namespace

std::uint64_t median_of(Samples samples) noexcept {
  if (samples.empty()) return 0;
  const auto middle = samples.begin() + static_cast<std::ptrdiff_t>(samples.size() / 2);
  std::nth_element(samples.begin(), middle, samples.end());
  return *middle;
}

bool is_faster(const Samples& first, const Samples& second) noexcept {
  std::uint64_t wins = 0;
  for (std::size_t i = 0; i < first.size(); ++i) wins += first[i] < second[i] ? 1 : 0;
  const std::uint64_t all = first.size();
  const std::uint64_t ahead = 2 * wins > all ? 2 * wins - all : 0;  // twice the wins beyond half
  return ahead * ahead >= 4 * all && all != 0;
}

Result<Found> search(std::size_t candidates, std::chrono::nanoseconds time, const Measure& measure) {
  std::vector<Runner> field(candidates);
  for (std::size_t i = 0; i < candidates; ++i) field[i].number = i;
  Runner second;  // the next best one at the last look that had one
  auto left = static_cast<std::uint64_t>(std::max<std::int64_t>(time.count(), 0));
  std::uint32_t done = 0;
  for (const Look& look : kLooks) {
    const std::uint32_t times = repetitions(look, done, left, field);
    if (times == 0) break;
    std::vector<std::size_t> who;
    for (const Runner& one : field) who.push_back(one.number);
    const auto samples = measure(who, times);
    if (!samples) return samples.status();
    done += times;
    for (std::size_t i = 0; i < field.size(); ++i) left -= std::min(left, field[i].add((*samples)[i]));
    std::stable_sort(field.begin(), field.end(), is_ahead);
    if (field.size() > 1) second = field[1];
    drop(field, look);
    if (field.size() == 1 && look.least == 1) break;
  }
  const Runner& best = field.front();
  Found found{best.number, best.number, best.time, best.time, done, true};
  if (candidates == 1) return found;
  found.runner_up = second.number;
  found.runner_up_time = second.time;
  // The test of wins is for a number of repetitions that did not follow from them.
  found.decided = (done == kMostRepetitions && is_faster(best.samples, second.samples)) ||
                  (done >= kFewestOfBest && has_no_prospects(second, best, kCertain));
  return found;
}

}  // namespace aqueduct::coll
