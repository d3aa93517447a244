#include "tools/aqtune/command_line.hpp"

#include "tools/given_value.hpp"

#include <fmt/format.h>

#include <cmath>

namespace aqueduct::aqtune {

namespace {

void add_study(CLI::App& app, Options& options, double& noise) {
  auto* const regret = app.add_flag(
      "--regret", options.studies,
      "no job: how good the choices are on random simulated networks, beside an exhaustive search");
  app.add_option("--models", options.study.models, "of --regret: random machines, each with three topologies")
      ->check(tools::decimal())
      ->check(CLI::Range(1U, 10000U))
      ->capture_default_str()
      ->needs(regret);
  app.add_option("--members", options.study.ranks, "of --regret: sizes of teams; below 2: by chance, 2 to 64")
      ->delimiter(',')
      ->check(tools::decimal())
      ->check(CLI::Range(0U, 16384U))
      ->capture_default_str()
      ->needs(regret);
  app.add_option("--keys", options.study.keys,
                 "of --regret: operations and sizes by chance, for each machine, topology and size of team")
      ->check(tools::decimal())
      ->check(CLI::Range(1U, 10000U))
      ->capture_default_str()
      ->needs(regret);
  app.add_option("--seed", options.study.seed, "of --regret")
      ->check(tools::given_value())
      ->check(tools::decimal())
      ->capture_default_str()
      ->needs(regret);
  app.add_option("--calls", options.study.calls, "of --regret: calls of a key while a team learns (stage 2)")
      ->check(tools::decimal())
      ->check(CLI::Range(1U, 100'000'000U))
      ->capture_default_str()
      ->needs(regret);
  app.add_option(
         "--require", options.study.most,
         "of --regret: fails if the p95 of stage 0, 1 or 2 is greater than this, or the time of stage 1 in "
         "that of an exhaustive search, in percent")
      ->delimiter(',')
      ->expected(1, 4)
      ->check(tools::real())
      ->check(CLI::Range(0.0, 1e6));
  app.add_option("--noise", noise, "of --regret: how much longer measured calls take on average, in percent")
      ->check(tools::real())
      ->check(CLI::Range(0.0, 1000.0))
      ->capture_default_str()
      ->needs(regret);
  // Those of a measurement would change nothing.
  for (const char* const name : {"--ops", "--bytes", "--sync", "--types", "--ranks", "--conduit", "--out",
                                 "--report", "--from", "--seconds", "--exhaustive"})
    regret->excludes(app.get_option(name));
}

}  // namespace

void CommandLine::add_to(CLI::App& app, Options& options) {
  app.add_option("--ops", operations, "broadcast,all_reduce,… or all")->capture_default_str();
  app.add_option("--bytes", bytes, "of a block: powers of four from A to B, or a list with commas")
      ->type_name("A:B")
      ->capture_default_str();
  app.add_option(
         "--sync", syncs,
         "the modes of calls: none, mine or all, or two as BEGIN:END; more with commas, one search each")
      ->type_name("MODES")
      ->capture_default_str();
  app.add_option("--types", types,
                 "what reductions add up: f64, f32, i64, i32, u64, u32; one of 8 and one of 4 bytes")
      ->type_name("LIST")
      ->capture_default_str();
  app.add_option("--ranks", options.ranks, "how many to start here, without a launcher (default: 2)")
      ->check(tools::decimal())
      ->check(CLI::Range(2U, 256U));
  app.add_option("--conduit", options.conduit, "without a launcher: which conduit")
      ->check(tools::given_value());
  app.add_option("--out", options.out, "the file of decisions, or a folder of such files")
      ->check(tools::given_value())
      ->default_str("tuning/");
  app.add_option("--report", options.report, "writes a page with the decisions of the file")
      ->check(tools::given_value())
      ->type_name("FILE.html");
  auto* const from = app.add_option("--from", options.from, "measures nothing: the page is about this file")
                         ->check(tools::given_value())
                         ->type_name("FILE");
  app.add_option("--seconds", options.seconds, "what the search may take")
      ->check(tools::real())
      ->check(CLI::Range(0.01, 1e6))
      ->capture_default_str();
  app.add_option("--candidates", options.candidates, "how many of the model's first algorithms are measured")
      ->check(tools::decimal())
      ->check(CLI::Range(1U, 10000U))
      ->capture_default_str();
  app.add_option(
         "--exhaustive", options.exhaustive,
         "after each search, measures all algorithms so many times, and says what the choice costs; not "
         "part of --seconds")
      ->type_name("TIMES")
      ->check(tools::decimal())
      ->check(CLI::Range(2U, TuneOptions::kMostExhaustive));
  app.add_flag("--json", options.json, "an object on a line for each decision");
  for (const char* const name : {"--ops", "--bytes", "--sync", "--types", "--ranks", "--conduit", "--out",
                                 "--seconds", "--candidates", "--exhaustive", "--json"})
    from->excludes(app.get_option(name));
  add_study(app, options, noise);
}

void CommandLine::read_into(Options& options) const {
  options.study.json = options.json;
  options.study.noise = noise / 100;
  options.study.searched = options.candidates;
  if (options.out.empty()) options.out = "tuning/";
  if (!std::isfinite(options.seconds)) throw BadInput("--seconds is a number from 0.01 to 1e6");
  if (!std::isfinite(noise)) throw BadInput("--noise is a number from 0 to 1000");
  for (const double most : options.study.most) {
    if (!std::isfinite(most)) throw BadInput("--require has numbers from 0 to 1e6");
  }
  if (!options.study.most.empty() && !options.studies) throw BadInput("--require is for --regret: give both");
  if (!options.report.empty() && !options.report.ends_with(".html"))
    throw BadInput(fmt::format("--report {}: the page is HTML, so its name ends in .html", options.report));
  options.operations = read_operations(operations);
  options.bytes = read_sizes(bytes);
  options.syncs = read_syncs(syncs);
  options.types = read_types(types);
  check_sizes(options.operations, options.bytes, options.types);
}

}  // namespace aqueduct::aqtune
