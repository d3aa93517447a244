#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace aqueduct::perf {

using Samples = std::vector<double>;

/// The sample below which the part `p` (0 … 1) of the samples lies (the nearest one).
/// Reorders the samples. 0 if there are none.
double percentile(std::span<double> samples, double p);
inline double median(std::span<double> samples) { return percentile(samples, 0.5); }

/// Summarizes the samples of a row, which come from several trials.
struct Summary {
  double median = 0;  ///< median of the trials' medians
  double p01 = 0;     ///< over all samples
  double p99 = 0;
  std::uint64_t samples = 0;
  double mean = 0;  ///< over all samples: includes rare long waits, which a median does not show
};
Summary summarize(std::vector<Samples> trials);

/// The unit of the figures that are shown; they are converted from nanoseconds per operation.
struct Unit {
  enum class Kind : std::uint8_t { nanoseconds, megabytes_per_second, million_per_second, milliseconds };
  Kind kind = Kind::nanoseconds;
  double bytes = 0;  ///< megabytes_per_second: bytes per operation

  std::string_view name() const noexcept;
  /// Whether larger is better.
  bool is_rate() const noexcept {
    return kind == Kind::megabytes_per_second || kind == Kind::million_per_second;
  }
  double from_nanoseconds(double ns) const noexcept;
  /// For rates the order is reversed, so that p01 is the smallest figure in either case.
  Summary convert(const Summary& ns) const noexcept;
};

}  // namespace aqueduct::perf
