#include "tools/aqperf/report/smooth.hpp"

#include <fmt/core.h>

namespace aqueduct::perf {
namespace {

/// Chosen: smaller differences are noise; a protocol switch at the wrong size makes a far larger one.
constexpr double kSlower = 0.10;

}  // namespace

std::string smoothness_of(std::span<const RateAt> rates) {
  if (rates.size() < 2) return {};
  std::string dents;
  for (std::size_t i = 0; i + 1 < rates.size(); ++i) {
    const double missing = 1 - rates[i].rate / rates[i + 1].rate;
    if (missing <= kSlower) continue;
    dents += fmt::format("{}{} bytes are {:.0f} % slower than {}", dents.empty() ? "" : "; ", rates[i].bytes,
                         100 * missing, rates[i + 1].bytes);
  }
  return dents.empty() ? "smooth: no size is more than 10 % slower than the next larger one"
                       : "not smooth: " + dents;
}

}  // namespace aqueduct::perf
