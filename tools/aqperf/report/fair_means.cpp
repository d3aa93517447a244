#include "tools/aqperf/report/fair_means.hpp"

#include <fmt/core.h>

#include <cmath>

namespace aqueduct::perf {

FairMeans fair_means(std::span<const RatioAt> ratios) {
  FairMeans out;
  double sum = 0, logarithms = 0;
  for (const RatioAt& at : ratios) {
    if (!(at.ratio > 0)) continue;
    if (out.sizes == 0 || at.ratio < out.least.ratio) out.least = at;
    if (out.sizes == 0 || at.ratio > out.most.ratio) out.most = at;
    ++out.sizes;
    sum += at.ratio;
    logarithms += std::log(at.ratio);
  }
  if (out.sizes == 0) return out;
  const auto count = static_cast<double>(out.sizes);
  out.arithmetic = sum / count;
  out.geometric = std::exp(logarithms / count);
  return out;
}

std::string words_for(const FairMeans& means, const std::string& what) {
  if (means.sizes < 2) return {};
  return fmt::format(
      "{} over {} sizes: arithmetic mean {:.3f}, geometric mean {:.3f}, least {:.3f} (at {} bytes), greatest "
      "{:.3f} (at {} bytes)",
      what, means.sizes, means.arithmetic, means.geometric, means.least.ratio, means.least.bytes,
      means.most.ratio, means.most.bytes);
}

}  // namespace aqueduct::perf
