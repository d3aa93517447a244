#include "coll/algorithms/algorithms.hpp"
#include "tools/aqcheck/grid.hpp"
#include "tools/aqcheck/large.hpp"
#include "tools/aqcheck/mutations.hpp"
#include "tools/aqcheck/plugin.hpp"
#include "tools/aqcheck/scratch_command.hpp"
#include "tools/given_value.hpp"
#include "tools/standard_output.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <charconv>
#include <chrono>
#include <cstdio>
#include <new>
#include <numeric>
#include <optional>
#include <random>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

// aqcheck: proves the schedules of collectives, without a network. See docs/collectives/checker.md.

namespace aqueduct::aqcheck {
namespace {

struct Options {
  Rank least = 1;
  Rank most = 17;
  std::string algorithm;
  std::string plugin;  ///< a shared object whose algorithms are checked, in place of the library's
  bool all_roots = false;
  bool large = false;
  std::uint32_t share = 1;
  std::uint32_t seed = 0;
  bool mutations = false;
  bool json = false;
};

struct Outcome {
  std::uint64_t cases = 0;
  std::uint64_t mutated = 0;
  std::string problem;  ///< the first
};

/// The team sizes, from the least on.
std::vector<Rank> teams(const Options& options) {
  if (options.large) return {kLargeTeams.begin(), kLargeTeams.end()};
  std::vector<Rank> out(options.most - options.least + 1);
  std::iota(out.begin(), out.end(), options.least);
  return out;
}

Outcome look_at(const coll::Algorithm& algorithm, const Options& options) {
  Outcome out;
  std::mt19937 chance(options.seed);
  for (const Rank ranks : teams(options)) {
    if (!out.problem.empty()) break;
    const Grid grid{ranks, options.all_roots, !options.mutations, options.large};
    for_each_case(algorithm, grid, [&](const Case& made) {
      if (!out.problem.empty()) return;
      if (options.share > 1 && chance() % options.share != 0) return;
      ++out.cases;
      if (!options.mutations) {
        if (const Verdict verdict = options.large ? check_large(made) : check(made); !verdict.problem.empty())
          out.problem = fmt::format("{}: {}", describe(made), verdict.problem);
        return;
      }
      const Mutated mutated = mutate(made);
      out.mutated += mutated.tried;
      if (!mutated.survivors.empty()) out.problem = mutated.survivors.front();
    });
  }
  return out;
}

void print(const coll::Algorithm& algorithm, const Outcome& outcome, double seconds, const Options& options) {
  const std::string name = fmt::format("{} {}", name_of(algorithm.operation), algorithm.name);
  if (options.json) {
    nlohmann::json line{
        {"algorithm", name}, {"cases", outcome.cases}, {"seconds", seconds}, {"problem", outcome.problem}};
    if (options.mutations) line["mutations"] = outcome.mutated;
    if (options.share > 1) line["seed"] = options.seed;
    fmt::print("{}\n", line.dump());
    return;
  }
  fmt::print("{:<28} {:>9} cases", name, outcome.cases);
  if (options.mutations) fmt::print(" {:>9} mistakes", outcome.mutated);
  fmt::print("  {:>6.1f} s  {}\n", seconds,
             !outcome.problem.empty() ? "WRONG"
             : outcome.cases != 0     ? "right"
                                      : "nothing to check");
  if (!outcome.problem.empty())
    fmt::print("  {}: {}\n", options.mutations ? "a mistake that is not found" : "counterexample",
               outcome.problem);
}

int run(const Options& options) {
  Config config;
  std::span<const coll::Algorithm* const> all = coll::all_algorithms();
  if (!options.plugin.empty()) {
    const std::string problem = add_algorithms_of(options.plugin, config);
    if (!problem.empty()) {
      fmt::print(stderr, "aqcheck: --plugin: {}\n", problem);
      return 2;
    }
    all = detail::algorithms_of(config.added_algorithms());
  }
  bool found = false;
  bool wrong = false;
  std::uint64_t cases = 0;
  for (const coll::Algorithm* const algorithm : all) {
    if (!options.algorithm.empty() && options.algorithm != algorithm->name) continue;
    found = true;
    const auto begin = std::chrono::steady_clock::now();
    const Outcome outcome = look_at(*algorithm, options);
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begin;
    print(*algorithm, outcome, spent.count(), options);
    wrong |= !outcome.problem.empty();
    cases += outcome.cases;
  }
  if (!found) {
    std::set<std::string_view> names;  // several operations have algorithms of one name
    for (const coll::Algorithm* const algorithm : all) names.insert(algorithm->name);
    fmt::print(stderr, "aqcheck: there is no algorithm '{}'. There are: {}\n", options.algorithm,
               fmt::join(names, ", "));
    return 2;
  }
  if (cases == 0) {
    fmt::print(stderr,
               "aqcheck: nothing was checked: no case of these --ranks, or none by chance: give a smaller "
               "--share\n");
    return 2;
  }
  return wrong ? 1 : 0;
}

/// Nothing: it is no whole number, or too large for any.
std::optional<Rank> read_number(std::string_view text) {
  Rank value = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || rest != end) return std::nullopt;
  return value;
}

/// "A:B", or "A" for both.
std::string read_ranks(std::string_view text, Options& options) {
  const std::size_t colon = text.find(':');
  const auto least = read_number(text.substr(0, colon));
  const auto most = colon == std::string_view::npos ? least : read_number(text.substr(colon + 1));
  if (!least || !most) return "ranks are given as A:B, such as 1:32, or as one number";
  if (*least < 1 || *most < *least || *most > 4096) return "ranks are 1 to 4096, the lower number first";
  options.least = *least;
  options.most = *most;
  return {};
}

}  // namespace
}  // namespace aqueduct::aqcheck

static int run_tool(int argc, char** argv) {
  aqueduct::aqcheck::Options options;
  CLI::App app(
      "Proves the schedules of collectives for every team size, root, size and sync mode: right results, no\n"
      "unordered accesses, no deadlock, and the messages, bytes and depth of the formula.");
  const auto* const ranks = app.add_option_function<std::string>(
                                   "--ranks",
                                   [&](const std::string& text) {
                                     const std::string problem = aqueduct::aqcheck::read_ranks(text, options);
                                     if (!problem.empty()) throw CLI::ValidationError("--ranks", problem);
                                   },
                                   "team sizes, as A:B")
                                ->type_name("A:B")
                                ->default_str("1:17");
  app.add_option("--algorithm", options.algorithm, "only the algorithms of this name")
      ->check(aqueduct::tools::given_value());
  auto* const plugin =
      app.add_option(
             "--plugin", options.plugin,
             "the algorithms of a program, in place of the library's: a shared object with the function\n"
             "extern \"C\" void aqueduct_algorithms(aqueduct::Config&)")
          ->type_name("FILE")
          ->check(aqueduct::tools::given_value());
  app.add_flag("--all-roots", options.all_roots,
               "every root; otherwise root 0 stands for all roots of a broadcast, and four roots for those "
               "of the others");
  auto* const mutations = app.add_flag("--mutations", options.mutations,
                                       "makes mistakes in the schedules; fails if one is not found");
  app.add_flag("--large", options.large,
               "teams of 65 to 1025, root 0: waits, memory, deadlock and costs, without results and order")
      ->excludes("--ranks")
      ->excludes("--all-roots")
      ->excludes(mutations);
  bool scratch = false;
  app.add_flag(
         "--scratch", scratch,
         "pairs of operations in one team's scratch with a late member, in teams of 2:5; with --mutations, "
         "mistakes in the protocol of scratch, in the largest of the teams")
      ->excludes("--algorithm")
      ->excludes(plugin)
      ->excludes("--all-roots")
      ->excludes("--large");
  auto* const share = app.add_option("--share", options.share, "checks one case in N, chosen by chance")
                          ->type_name("N")
                          ->check(aqueduct::tools::decimal())
                          ->check(CLI::Range(1u, 1'000'000u));
  auto* const seed = app.add_option("--seed", options.seed, "repeats the choice of --share")
                         ->check(aqueduct::tools::given_value())
                         ->check(aqueduct::tools::decimal())
                         ->check(CLI::Range(0u, ~0u))
                         ->needs(share)
                         ->type_name("SEED");
  app.add_flag("--json", options.json, "a line of JSON for each algorithm")->excludes("--scratch");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;  // --help arrives here too; 2: wrong usage, as of all tools
  }
  if (options.share > 1 && seed->count() == 0) options.seed = std::random_device{}();
  try {
    if (options.share > 1 && !options.json) fmt::print("seed {}\n", options.seed);
    if (scratch) {
      const bool all_sizes = ranks->count() == 0;
      return aqueduct::aqcheck::run_scratch({all_sizes ? 2 : options.least, all_sizes ? 5 : options.most,
                                             options.share, options.seed, options.mutations});
    }
    return aqueduct::aqcheck::run(options);
  } catch (const std::system_error& error) {
    return aqueduct::tools::after_system_error("aqcheck", error);
  } catch (const std::bad_alloc&) {  // 1 would say that a schedule is wrong
    return aqueduct::tools::after_no_memory("aqcheck", 2);
  }
}

int main(int argc, char** argv) {
  aqueduct::tools::keep_standard_places();
  return aqueduct::tools::after_output("aqcheck", run_tool(argc, argv));
}
