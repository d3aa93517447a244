#include "coll/tune/search.hpp"

#include <algorithm>
#include <array>
#include <numeric>

namespace aqueduct::coll {

namespace {

/// A round of the search: how many are measured at the most, and how often.
struct Round {
  std::size_t most;
  std::uint32_t times;
};
// Chosen: as requirements N-90 and section 5 of the study have them.
constexpr std::array kRounds{Round{~std::size_t{0}, 5}, Round{4, 10}, Round{2, 40}};
constexpr std::uint32_t kFirstLook = 2;  // the first call of each also makes what is kept for it
// Two calls of each say little where ranks wait for processors: so a round of the best four comes in any case. Chosen.
constexpr std::size_t kAlwaysKept = 4;
constexpr std::uint64_t kHopeless = 4;  // chosen: noise of a factor of four is rare
constexpr std::uint32_t kFewest = 3;    // repetitions of a round: fewer have no median worth the name

/// A candidate in the race.
struct Runner {
  std::size_t number;
  std::uint64_t time;
};

bool is_ahead(const Runner& a, const Runner& b) noexcept { return a.time < b.time; }

std::uint64_t sum_of(const std::vector<Runner>& field) noexcept {
  std::uint64_t sum = 0;
  for (const Runner& one : field) sum += one.time;
  return sum;
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
  std::vector<std::size_t> who(candidates);
  std::iota(who.begin(), who.end(), std::size_t{0});
  const auto first = measure(who, kFirstLook);
  if (!first) return first.status();
  std::vector<Runner> field;
  for (std::size_t i = 0; i < candidates; ++i)
    field.push_back({i, *std::min_element((*first)[i].begin(), (*first)[i].end())});
  std::stable_sort(field.begin(), field.end(), is_ahead);
  const std::uint64_t limit = field.front().time * kHopeless;
  while (field.size() > kAlwaysKept && field.back().time > limit) field.pop_back();

  Found found;
  auto left = static_cast<std::uint64_t>(std::max<std::int64_t>(time.count(), 0));
  std::size_t rounds = kRounds.size();
  for (const Round& round : kRounds) {
    if (field.size() > round.most) field.resize(round.most);
    // Each round may take its share of what is left.
    const std::uint64_t each = std::max<std::uint64_t>(sum_of(field), 1);
    const std::uint64_t fits = left / rounds / each;
    const auto times = static_cast<std::uint32_t>(std::clamp<std::uint64_t>(fits, kFewest, round.times));
    --rounds;
    who.clear();
    for (const Runner& one : field) who.push_back(one.number);
    auto samples = measure(who, times);
    if (!samples) return samples.status();
    for (std::size_t i = 0; i < field.size(); ++i) field[i].time = median_of((*samples)[i]);
    const std::uint64_t took = sum_of(field) * times;
    left = left > took ? left - took : 0;
    std::stable_sort(field.begin(), field.end(), is_ahead);
    found.best = found.runner_up = field.front().number;
    found.best_time = found.runner_up_time = field.front().time;
    found.samples = times;
    found.decided = field.size() == 1;
    if (field.size() < 2) continue;
    found.runner_up = field[1].number;
    found.runner_up_time = field[1].time;
    const auto samples_of = [&](std::size_t number) -> const Samples& {
      return (*samples)[static_cast<std::size_t>(std::find(who.begin(), who.end(), number) - who.begin())];
    };
    found.decided = is_faster(samples_of(found.best), samples_of(found.runner_up));
  }
  return found;
}

}  // namespace aqueduct::coll
