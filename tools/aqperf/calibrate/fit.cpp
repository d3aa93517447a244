#include "tools/aqperf/calibrate/fit.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace aqueduct::perf {
namespace {

// Chosen: an interval that is no longer than this many times the overhead may be that of the processor.
constexpr double kBoundByProcessor = 1.15;
constexpr double kMuchLonger = 1.25;
// Chosen: a network's parameters are to be right within 3 %.
constexpr double kAlike = 1.02;
constexpr std::size_t kAgreeing = 3;

Picoseconds picoseconds(double nanoseconds) {
  return Picoseconds(std::llround(std::max(0.0, nanoseconds) * 1000));
}

}  // namespace

bool have_settled(const std::vector<double>& trials) {
  if (trials.size() < kAgreeing) return false;
  std::vector<double> shortest(kAgreeing);
  std::partial_sort_copy(trials.begin(), trials.end(), shortest.begin(), shortest.end());
  return shortest.back() <= kAlike * shortest.front();
}

double usual_of(std::vector<double> trials) {
  const std::size_t place = have_settled(trials) ? 1 : trials.size() / 4;
  std::nth_element(trials.begin(), trials.begin() + static_cast<std::ptrdiff_t>(place), trials.end());
  return trials[place];
}

void undisturb(std::vector<MeasuredSize>& sizes) {
  for (std::size_t i = sizes.size() - 1; i-- > 0;) {
    MeasuredSize& here = sizes[i];
    const MeasuredSize& next = sizes[i + 1];
    here.one_way = std::min(here.one_way, next.one_way);
    here.crossing = std::min(here.crossing, next.crossing);
    // An interval is a difference of two times, so what disturbs the shorter one makes it too short, or nothing.
    if (next.interval > 0) here.interval = std::min(here.interval, next.interval);
  }
  // A longer message is no less work for the processor: what its call leaves to do, the wait behind it does.
  for (std::size_t i = 1; i < sizes.size(); ++i)
    sizes[i].alone = std::max(sizes[i].alone, sizes[i - 1].alone);
}

std::vector<NetworkCost> fit_costs(const std::vector<MeasuredSize>& sizes) {
  std::vector<NetworkCost> costs;
  double gap = 0;
  for (std::size_t i = sizes.size() - 1; i-- > 0;) {
    const MeasuredSize& here = sizes[i];
    const MeasuredSize& next = sizes[i + 1];
    const auto bytes = static_cast<double>(here.bytes);
    const auto until = static_cast<double>(next.bytes);
    // A lone message may take longer for each byte than a stream, in which both ends work at the same time.
    double per_byte = std::max(0.0, (next.crossing - here.crossing) / (until - bytes));
    per_byte = std::min({per_byte, here.interval / bytes, next.interval / until, here.crossing / bytes});
    // Where the processor copies, bytes are counted once: in G.
    const double way = here.crossing - per_byte * bytes;
    const double overhead = std::min(std::max(here.overhead, here.alone), way);
    const double between = here.interval - per_byte * bytes;
    const bool of_port = here.interval > kBoundByProcessor * here.overhead;
    gap = of_port || i + 2 == sizes.size() ? between : std::min(gap, between);
    NetworkCost cost;
    cost.bytes = i == 0 ? 0 : here.bytes;
    cost.overhead = picoseconds(overhead);
    cost.gap = picoseconds(gap);
    cost.femtoseconds_per_byte = static_cast<std::uint64_t>(std::llround(per_byte * 1e6));
    cost.latency = picoseconds(way - overhead);
    cost.interval = picoseconds(here.interval);
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
