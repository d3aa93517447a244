#include "tools/aqperf/sweep/sweep.hpp"

#include "tools/aqperf/failure.hpp"
#include "tools/aqperf/launch.hpp"
#include "tools/aqperf/measure/statistics.hpp"
#include "tools/aqperf/sweep/pretended_hosts.hpp"
#include "tools/aqperf/sweep/sweep_table.hpp"
#include "tools/aqperf/sweep/variants.hpp"

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

namespace aqueduct::perf {

namespace {

/// A variant, and how its job is started.
struct Entrant {
  Variant variant;
  std::optional<PretendedHosts> hosts{};
  std::vector<std::string> command{};
  std::string conduit{};
  unsigned ranks = 0;
};

Entrant entrant_of(const Variant& variant, const Options& options,
                   const std::vector<std::string>& plain_command) {
  Entrant out{.variant = variant};
  out.command = plain_command;
  if (variant.hosts > 0) {
    out.hosts.emplace(variant.hosts, variant.each);
    out.command = {aqrun_beside(), "-n", std::to_string(variant.hosts * variant.each), "--bind", "none"};
    const auto on_hosts = out.hosts->aqrun_options();
    out.command.insert(out.command.end(), on_hosts.begin(), on_hosts.end());
    // The ranks bind themselves: aqrun would bind those of each host to the same processors.
    out.command.insert(out.command.end(),
                       {"--endpoints", std::to_string(variant.threads ? variant.each : 1)});
    if (!options.conduit.empty()) out.command.insert(out.command.end(), {"--conduit", options.conduit});
  }
  if (!variant.algorithm.empty())
    out.command.insert(out.command.end(), {"-e", forcing_setting(options.bench) + "=" + variant.algorithm});
  return out;
}

/// What the job's rank 0 has printed.
void read_rows(const std::string& output, Entrant& entrant, std::size_t variant,
               std::vector<SweepSample>& samples, std::string& unit) {
  std::istringstream in(output);
  for (std::string line; std::getline(in, line);) {
    const auto row = nlohmann::json::parse(line, nullptr, false);
    if (!row.is_object() || !row.contains("median"))
      throw Failure(fmt::format("{}: its job printed '{}' instead of a row", entrant.variant.label, line), 1);
    samples.push_back(
        {variant, row.value("bytes", std::size_t{0}), row.value("median", 0.0), row.value("algorithm", "")});
    entrant.conduit = row.value("conduit", "");
    entrant.ranks = row.value("ranks", 0U);
    unit = row.value("unit", "");
  }
}

void print_json(const Options& options, const std::vector<Entrant>& entrants, const SweepTable& table,
                const std::string& unit) {
  for (const SweepLine& line : table.lines) {
    for (std::size_t i = 0; i < entrants.size(); ++i) {
      const SweepCell& cell = line.cells[i];
      if (cell.turns == 0) continue;
      nlohmann::ordered_json out{{"bench", options.bench},
                                 {"conduit", entrants[i].conduit},
                                 {"ranks", entrants[i].ranks},
                                 {"bytes", line.bytes},
                                 {"unit", unit},
                                 {"variant", entrants[i].variant.label},
                                 {"median", cell.median},
                                 {"least", cell.least},
                                 {"most", cell.most},
                                 {"turns", cell.turns},
                                 {"ratio", cell.ratio},
                                 {"best", line.best == i},
                                 {"algorithm", cell.algorithm}};
      if (entrants[i].variant.hosts > 0) out["hosts"] = entrants[i].variant.hosts;
      fmt::print("{}\n", out.dump());
    }
  }
}

void print_table(const Options& options, const std::vector<Entrant>& entrants, const SweepTable& table,
                 const std::string& unit) {
  const auto width = [&](std::size_t i) {
    return std::max<std::size_t>(10, entrants[i].variant.label.size());
  };
  fmt::print("# {} over {}, {}; each job's median, of which the median over {} turns\n{:>10}", options.bench,
             entrants.back().conduit, unit, options.repeat, "bytes");
  for (std::size_t i = 0; i < entrants.size(); ++i)
    fmt::print(" {:>{}}", entrants[i].variant.label, width(i));
  fmt::print("  best\n");
  for (const SweepLine& line : table.lines) {
    fmt::print("{:>10}", line.bytes);
    for (std::size_t i = 0; i < entrants.size(); ++i) {
      const SweepCell& cell = line.cells[i];
      fmt::print(" {:>{}}", cell.turns == 0 ? "-" : fmt::format("{:.1f}", cell.median), width(i));
    }
    fmt::print("  {}\n", line.best < entrants.size() ? entrants[line.best].variant.label : "-");
  }
}

/// Over all sizes. Below the table, or on standard error with --json.
void print_means(const Options& options, const std::vector<Entrant>& entrants, const SweepTable& table) {
  std::FILE* const where = options.json ? stderr : stdout;
  const char* const begin = options.json ? "aqperf: " : "# ";
  std::string best;
  for (std::size_t i = 0; i < entrants.size(); ++i) {
    const std::string& label = entrants[i].variant.label;
    const std::string said = words_for(table.means[i], label + " / " + entrants[0].variant.label);
    if (i > 0 && !said.empty()) fmt::print(where, "{}{}\n", begin, said);
    if (table.best_counts[i] > 0)
      best += fmt::format("{}{} at {}", best.empty() ? "" : ", ", label, table.best_counts[i]);
  }
  fmt::print(where, "{}best of {} sizes: {}\n", begin, table.lines.size(), best);
}

/// Runs the job of a variant once; what it has printed.
std::string output_of_job(const Entrant& entrant) {
  try {
    return output_of(entrant.command);
  } catch (const Failure& failure) {
    throw Failure(fmt::format("{}: {}; if it cannot do all sizes, try other --bytes", entrant.variant.label,
                              failure.what()),
                  failure.exit_status());
  }
}

}  // namespace

void sweep(const Options& options, int argc, char** argv) {
  const std::vector<Variant> variants = variants_of(options);
  const std::vector<std::string> plain =
      variants.front().hosts == 0 ? aqrun_command(options) : std::vector<std::string>();
  std::vector<Entrant> entrants;
  for (const Variant& variant : variants) {
    Entrant& entrant = entrants.emplace_back(entrant_of(variant, options, plain));
    entrant.command.push_back(own_program());
    entrant.command.insert(entrant.command.end(), argv + 1, argv + argc);
    entrant.command.emplace_back(kPartOfSweep);
  }
  std::vector<SweepSample> samples;
  std::string unit;
  for (int turn = 0; turn < options.repeat; ++turn) {
    for (std::size_t place = 0; place < entrants.size(); ++place) {
      // The order turns round from one turn to the next, so that a drift favours no variant.
      const std::size_t i = turn % 2 == 0 ? place : entrants.size() - 1 - place;
      read_rows(output_of_job(entrants[i]), entrants[i], i, samples, unit);
    }
  }
  const SweepTable table = tabulate(samples, entrants.size(), unit != Unit{}.name());
  if (options.json) {
    print_json(options, entrants, table, unit);
  } else {
    print_table(options, entrants, table, unit);
  }
  print_means(options, entrants, table);
}

}  // namespace aqueduct::perf
