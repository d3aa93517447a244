#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace aqueduct::perf {

using Samples = std::vector<double>;

/// The value below which the part `p` (0 … 1) of the samples lies, the nearest one. Reorders them. 0 without
/// samples.
double percentile(std::span<double> samples, double p);
inline double median(std::span<double> samples) { return percentile(samples, 0.5); }

/// What a row says of its samples, which came in several trials.
struct Summary {
  double median = 0;  ///< median of the trials' medians
  double p01 = 0;     ///< over all samples
  double p99 = 0;
  std::uint64_t samples = 0;
  double mean = 0;  ///< over all samples: what rare and long waits cost, which no median shows
};
Summary summarize(std::vector<Samples> trials);

/// What is shown, made from nanoseconds for one operation.
struct Unit {
  enum class Kind : std::uint8_t { nanoseconds, megabytes_per_second, million_per_second, milliseconds };
  Kind kind = Kind::nanoseconds;
  double bytes = 0;  ///< megabytes_per_second: bytes in one operation

  std::string_view name() const noexcept;
  /// Whether larger is better.
  bool is_rate() const noexcept {
    return kind == Kind::megabytes_per_second || kind == Kind::million_per_second;
  }
  double from_nanoseconds(double ns) const noexcept;
  /// Rates turn the order round: p01 is the smallest figure in either case.
  Summary convert(const Summary& ns) const noexcept;
};

}  // namespace aqueduct::perf
