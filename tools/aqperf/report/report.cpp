#include "tools/aqperf/report/report.hpp"

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>
#include <utility>

namespace aqueduct::perf {

namespace {

/// Chosen: if other processes take a tenth of a core, latencies rise visibly.
constexpr double kBusyOthers = 0.1;
/// Measured: a cache line's round trip between two virtual cores is 50–117 ns when they are near, 320–510 when far.
constexpr double kFarCores = 150;

/// Formats a figure with four significant digits, however large it is.
std::string figure(double value) {
  const int decimals = value >= 1000 ? 0 : value >= 100 ? 1 : value >= 10 ? 2 : 3;
  return fmt::format("{:.{}f}", value, decimals);
}
std::string figure(const std::optional<double>& value) { return value ? figure(*value) : "-"; }

}  // namespace

std::optional<double> Row::ratio_to(double other) const {
  if (other <= 0) return std::nullopt;
  return figure.median / other;
}

std::string to_json(const Row& row) {
  nlohmann::ordered_json out{
      {"bench", row.bench},      {"conduit", row.conduit},  {"ranks", row.ranks},
      {"bytes", row.bytes},      {"unit", row.unit.name()}, {"median", row.figure.median},
      {"p01", row.figure.p01},   {"p99", row.figure.p99},   {"samples", row.figure.samples},
      {"mean", row.figure.mean},
  };
  if (row.raw) out["raw"] = *row.raw;
  if (row.raw_mean) out["raw_mean"] = *row.raw_mean;
  if (row.ratio()) out["ratio"] = *row.ratio();
  for (const auto& [name, value] : row.more_raws) {
    out["raw_" + name] = value.median;
    out["raw_" + name + "_mean"] = value.mean;
    if (const auto ratio = row.ratio_to(value.median)) out["ratio_" + name] = *ratio;
  }
  if (!row.raw_what.empty()) out["raw_what"] = row.raw_what;
  out["longest_stall_ms"] = row.longest_stall_ms;
  out["others_cores"] = row.others_cores;
  if (row.cacheline_before_ns) out["cacheline_ns_before"] = *row.cacheline_before_ns;
  if (row.cacheline_after_ns) out["cacheline_ns_after"] = *row.cacheline_after_ns;
  for (const auto& [name, value] : row.extra) out[name] = value;
  if (!row.algorithm.empty()) out["algorithm"] = row.algorithm;
  return out.dump();
}

void Reporter::head(const Row& row) {
  fmt::print("# {} over {}, {} ranks, {}{}\n", row.bench, row.conduit, row.ranks, row.unit.name(),
             row.raw_what.empty() ? "" : "; raw: " + row.raw_what);
  fmt::print("{:>10} {:>10} {:>10} {:>10} {:>9} {:>10} {:>7}", "bytes", "median", "p01", "p99", "samples",
             "raw", "ratio");
  for (const auto& [name, value] : row.more_raws) {
    fmt::print(" {:>10} {:>9}", "raw_" + name, "ratio_" + name);
  }
  if (show_stalls_) fmt::print(" {:>10}", "stall[ms]");
  for (const auto& [name, value] : row.extra)
    fmt::print(" {:>{}}", name, std::max<std::size_t>(10, name.size()));
  if (!row.algorithm.empty()) fmt::print("  algorithm");
  fmt::print("\n");
}

void Reporter::add(const Row& row) {
  if (silent_) return;
  if (json_) {
    fmt::print("{}\n", to_json(row));
  } else {
    if (!headed_) head(row);
    headed_ = true;
    fmt::print("{:>10} {:>10} {:>10} {:>10} {:>9} {:>10} {:>7}", row.bytes, figure(row.figure.median),
               figure(row.figure.p01), figure(row.figure.p99), row.figure.samples, figure(row.raw),
               figure(row.ratio()));
    for (const auto& [name, value] : row.more_raws) {
      fmt::print(" {:>10} {:>9}", figure(value.median), figure(row.ratio_to(value.median)));
    }
    if (show_stalls_) fmt::print(" {:>10}", figure(row.longest_stall_ms));
    for (const auto& [name, value] : row.extra) {
      fmt::print(" {:>{}}", figure(value), std::max<std::size_t>(10, name.size()));
    }
    if (!row.algorithm.empty()) fmt::print("  {}", row.algorithm);
    fmt::print("\n");
  }
  std::fflush(stdout);
  doubt(row);
}

void Reporter::say(const std::string& remark) {
  if (silent_ || remark.empty()) return;
  fmt::print(json_ ? stderr : stdout, "{}{}\n", json_ ? "aqperf: " : "# ", remark);
  std::fflush(json_ ? stderr : stdout);
}

void Reporter::doubt(const Row& row) {
  if (row.others_cores > kBusyOthers && !std::exchange(told_busy_, true)) {
    fmt::print(stderr,
               "aqperf: other processes kept {:.2f} cores busy at {} bytes: figures are doubtful "
               "(each row's others_cores in --json)\n",
               row.others_cores, row.bytes);
  }
  if (show_stalls_ || !row.cacheline_before_ns || !row.cacheline_after_ns) return;
  if (std::max(*row.cacheline_before_ns, *row.cacheline_after_ns) > kFarCores &&
      !std::exchange(told_far_, true)) {
    fmt::print(
        stderr,
        "aqperf: the cores are far apart now (a cache line there and back: {:.0f} ns before, {:.0f} ns "
        "after): compare ratios, not figures\n",
        *row.cacheline_before_ns, *row.cacheline_after_ns);
  }
}

}  // namespace aqueduct::perf
