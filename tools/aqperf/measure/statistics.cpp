#include "tools/aqperf/measure/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace aqueduct::perf {

double percentile(std::span<double> samples, double p) {
  if (samples.empty()) return 0;
  const auto index = static_cast<std::ptrdiff_t>(std::lround(p * static_cast<double>(samples.size() - 1)));
  std::nth_element(samples.begin(), samples.begin() + index, samples.end());
  return samples[static_cast<std::size_t>(index)];
}

Summary summarize(std::vector<Samples> trials) {
  Samples medians, all;
  for (Samples& trial : trials) {
    if (trial.empty()) continue;
    all.insert(all.end(), trial.begin(), trial.end());
    medians.push_back(median(trial));
  }
  const double middle = median(medians);
  const double sum = std::accumulate(all.begin(), all.end(), 0.0);
  // Trials may differ so much in length that the median of medians lies outside the percentiles of all samples.
  return {middle, std::min(middle, percentile(all, 0.01)), std::max(middle, percentile(all, 0.99)),
          all.size(), all.empty() ? 0 : sum / static_cast<double>(all.size())};
}

std::string_view Unit::name() const noexcept {
  switch (kind) {
    case Kind::nanoseconds: return "ns";
    case Kind::megabytes_per_second: return "MB/s";
    case Kind::million_per_second: return "M/s";
    case Kind::milliseconds: return "ms";
  }
  return "";
}

double Unit::from_nanoseconds(double ns) const noexcept {
  switch (kind) {
    case Kind::nanoseconds: return ns;
    case Kind::megabytes_per_second: return ns > 0 ? bytes * 1e3 / ns : 0;
    case Kind::million_per_second: return ns > 0 ? 1e3 / ns : 0;
    case Kind::milliseconds: return ns / 1e6;
  }
  return 0;
}

Summary Unit::convert(const Summary& ns) const noexcept {
  Summary out{from_nanoseconds(ns.median), from_nanoseconds(ns.p01), from_nanoseconds(ns.p99), ns.samples,
              from_nanoseconds(ns.mean)};
  if (is_rate()) std::swap(out.p01, out.p99);
  return out;
}

}  // namespace aqueduct::perf
