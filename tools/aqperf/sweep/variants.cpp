#include "tools/aqperf/sweep/variants.hpp"

#include <fmt/core.h>

#include <array>

namespace aqueduct::perf {

namespace {

constexpr Rank kMostRanks = 256;  // aqrun starts no more

/// Members below each in a tree (requirement HB-02).
constexpr std::array kRadixes{2, 3, 4, 8, 16};

Rank ranks_of(const Options& options) { return options.ranks == 0 ? 2 : options.ranks; }
bool is_broadcast(const Options& options) { return options.bench == "coll-broadcast"; }
bool has_trees(const Options& options) {
  return is_broadcast(options) || options.bench == "coll-reduce" || options.bench == "coll-all-reduce";
}

/// In one stage and in two, and down trees; reductions in one stage, and up trees.
std::vector<std::string> trees_of(const Options& options) {
  std::vector<std::string> names{is_broadcast(options) ? "mapped" : "flags-flat"};
  if (is_broadcast(options)) names.emplace_back("mapped-two-stage");
  for (const int radix : kRadixes)
    names.push_back(fmt::format("{}:radix={}", is_broadcast(options) ? "mapped-tree" : "flags-tree", radix));
  return names;
}

}  // namespace

bool sweeps(const SweepForm& form) noexcept {
  return !form.algorithms.empty() || form.trees || form.divide || form.hosts.has_value();
}

std::vector<Variant> variants_of(const Options& options) {
  const SweepForm& form = options.sweep;
  std::vector<Variant> out;
  for (const std::string& name : form.algorithms)
    out.push_back({.label = name, .algorithm = name == "auto" ? "" : name});
  if (form.trees) {
    for (const std::string& name : trees_of(options)) out.push_back({.label = name, .algorithm = name});
  }
  const Rank ranks = ranks_of(options);
  for (Rank hosts = 1; form.divide && hosts <= ranks; ++hosts) {
    if (ranks % hosts != 0) continue;
    out.push_back({.label = fmt::format("{}x{}", hosts, ranks / hosts),
                   .hosts = hosts,
                   .each = ranks / hosts,
                   .threads = true});
  }
  if (form.hosts) {
    for (const std::size_t hosts : form.hosts->sizes())
      out.push_back(
          {.label = fmt::format("{}x{}", hosts, ranks), .hosts = static_cast<Rank>(hosts), .each = ranks});
  }
  return out;
}

std::string forcing_setting(const std::string& bench) {
  std::string out = "AQUEDUCT_COLL_";
  for (const char c : bench.substr(bench.find('-') + 1))
    out += c == '-' ? '_' : static_cast<char>(c - 'a' + 'A');
  return out;
}

std::string problem_of_sweep(const Options& options) {
  const SweepForm& form = options.sweep;
  if (!sweeps(form)) return {};
  if (!options.bench.starts_with("coll-"))
    return fmt::format("--algorithm, --trees, --divide and --hosts are for coll-…, not for {}",
                       options.bench);
  if (form.trees && !has_trees(options))
    return fmt::format(
        "--trees is for coll-broadcast, coll-reduce and coll-all-reduce, not for {}; name "
        "algorithms with --algorithm",
        options.bench);
  const int ways = (!form.algorithms.empty() || form.trees) + form.divide + form.hosts.has_value();
  if (ways > 1)
    return "--algorithm and --trees, --divide, and --hosts are sweeps of their own; give one of them";
  if (options.threads > 0)
    return "--threads measures in this process, and a sweep starts jobs of its own; give --ranks";
  if (options.vs_raw || options.statistics || options.load)
    return "--vs, --statistics and --load are not for a sweep, which compares jobs with one another";
  if (form.hosts && form.hosts->first == 0)
    return "--hosts begins with 0, and a job needs at least 1; try --hosts 1:4";
  if (form.hosts && form.hosts->last * ranks_of(options) > kMostRanks)
    return fmt::format(
        "--hosts {} of {} ranks each are more than {} ranks; give fewer --ranks, which are "
        "those of a host here",
        form.hosts->last, ranks_of(options), kMostRanks);
  if (form.divide && ranks_of(options) < 2)
    return "--divide has nothing to divide with one rank; give --ranks 2 or more";
  return {};
}

}  // namespace aqueduct::perf
