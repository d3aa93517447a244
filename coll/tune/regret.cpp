#include "coll/tune/regret.hpp"

#include <algorithm>

namespace aqueduct::coll {

namespace {

/// Every second sample.
Samples half_of(const Samples& samples, std::size_t first) {
  Samples half;
  for (std::size_t i = first; i < samples.size(); i += 2) half.push_back(samples[i]);
  return half;
}

double median(const Samples& samples) noexcept {
  return static_cast<double>(std::max<std::uint64_t>(median_of(samples), 1));
}

/// Both series of the choice.
double median_of_choice(std::span<const Samples> series, std::size_t half) {
  Samples both = half_of(series[0], half);
  const Samples second = half_of(series[1], half);
  both.insert(both.end(), second.begin(), second.end());
  return median(both);
}

}  // namespace

Regret regret_of(std::span<const Samples> series) {
  const std::span<const Samples> others = series.subspan(2);
  Regret found;
  const double first = median(series[0]);
  const double second = median(series[1]);
  found.noise = std::max(first, second) / std::min(first, second) - 1;
  found.best = others.size();
  double least = median_of_choice(series, 0);
  for (std::size_t i = 0; i < others.size(); ++i) {
    const double time = median(half_of(others[i], 0));
    if (time >= least) continue;
    least = time;
    found.best = i;
  }
  if (found.best == others.size()) return found;
  found.regret = std::max(0.0, median_of_choice(series, 1) / median(half_of(others[found.best], 1)) - 1);
  return found;
}

}  // namespace aqueduct::coll
