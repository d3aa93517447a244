#include "tools/aqperf/calibrate/fit.hpp"

#include <algorithm>
#include <cmath>

namespace aqueduct::perf {
namespace {

// Chosen: an interval that is no longer than this many times the overhead may be that of the processor.
constexpr double kBoundByProcessor = 1.15;
constexpr double kMuchLonger = 1.25;

Picoseconds picoseconds(double nanoseconds) {
  return Picoseconds(std::llround(std::max(0.0, nanoseconds) * 1000));
}

}  // namespace

std::vector<NetworkCost> fit_costs(const std::vector<MeasuredSize>& sizes) {
  std::vector<NetworkCost> costs;
  double gap = 0;
  double per_byte = 0;
  for (std::size_t pair = sizes.size() / 2; pair-- > 0;) {
    const MeasuredSize& small = sizes[2 * pair];
    const MeasuredSize& large = sizes[2 * pair + 1];
    const bool last = pair + 1 == sizes.size() / 2;
    const bool of_port =
        small.interval > kBoundByProcessor * small.overhead && large.interval > small.interval;
    if (of_port || last) {
      per_byte =
          std::max(0.0, (large.interval - small.interval) / static_cast<double>(large.bytes - small.bytes));
      gap = std::max(0.0, small.interval - per_byte * static_cast<double>(small.bytes));
    }
    NetworkCost cost;
    cost.bytes = pair == 0 ? 0 : small.bytes;
    cost.overhead = picoseconds(small.overhead);
    cost.gap = picoseconds(gap);
    cost.femtoseconds_per_byte = static_cast<std::uint64_t>(std::llround(per_byte * 1e6));
    cost.latency = picoseconds(small.one_way - small.overhead - per_byte * static_cast<double>(small.bytes));
    costs.insert(costs.begin(), cost);
  }
  return costs;
}

std::uint64_t rendezvous_limit(const std::vector<MeasuredSize>& sizes) {
  std::uint64_t limit = 0;
  for (std::size_t i = sizes.size(); i-- > 2;) {
    // The line through the two sizes before.
    const MeasuredSize& a = sizes[i - 2];
    const MeasuredSize& b = sizes[i - 1];
    const double rise = std::max(0.0, (b.one_way - a.one_way) / static_cast<double>(b.bytes - a.bytes));
    const double predicted = b.one_way + rise * static_cast<double>(sizes[i].bytes - b.bytes);
    if (sizes[i].one_way > kMuchLonger * predicted) limit = sizes[i].bytes;
  }
  return limit;
}

std::uint64_t peak_bytes(const std::vector<MeasuredSize>& sizes) {
  const auto bandwidth = [](const MeasuredSize& one) {
    return static_cast<double>(one.bytes) / one.interval;
  };
  double best = 0;
  for (const MeasuredSize& one : sizes) best = std::max(best, bandwidth(one));
  const auto reaches = [&](const MeasuredSize& one) { return bandwidth(one) >= 0.9 * best; };
  const auto found = std::find_if(sizes.begin(), sizes.end(), reaches);
  return found != sizes.end() ? found->bytes : 0;
}

}  // namespace aqueduct::perf
