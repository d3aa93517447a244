#include <aqueduct/aqueduct.hpp>
#include <aqueduct/tune.hpp>

#include "bootstrap/launcher.hpp"
#include "coll/barriers.hpp"
#include "coll/tune/operation_word.hpp"
#include "conduits/registry.hpp"
#include "core/json_reader.hpp"
#include "tools/aqtune/found_line.hpp"
#include "tools/aqtune/options.hpp"
#include "tools/aqtune/regret_here.hpp"
#include "tools/aqtune/report.hpp"
#include "tools/given_value.hpp"
#include "tools/standard_output.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <unistd.h>

// aqtune: measures which algorithms of collectives are the fastest here, and writes them down. See docs/tuning.md.

namespace aqueduct::aqtune {
namespace {

bool has_launcher() {
  const std::string wanted = bootstrap::environment_variable("AQUEDUCT_LAUNCHER").value_or("auto");
  return bootstrap::find_launcher(wanted, bootstrap::environment_variable).by != bootstrap::Launcher::alone;
}

/// Replaces this process by `aqrun -n RANKS aqtune …`.
[[noreturn]] void relaunch(const Options& options, int argc, char** argv) {
  const std::filesystem::path own = std::filesystem::read_symlink("/proc/self/exe");
  std::vector<std::string> command{(own.parent_path() / "aqrun").string(), "-n",
                                   std::to_string(options.ranks == 0 ? 2 : options.ranks)};
  if (!options.conduit.empty()) command.insert(command.end(), {"--conduit", options.conduit});
  const conduits::Available* const named = conduits::find(options.conduit);
  // Ranks of one host would use shared memory in place of the conduit that is to be tuned.
  if (named != nullptr && named->entry != nullptr && named->entry->crosses_hosts &&
      Config::from_environment().origin("near") == SettingOrigin::built_in)
    command.insert(command.end(), {"-e", "AQUEDUCT_NEAR=off"});
  command.push_back(own.string());
  command.insert(command.end(), argv + 1, argv + argc);
  std::vector<char*> words;
  for (std::string& word : command) words.push_back(word.data());
  words.push_back(nullptr);
  execv(words.front(), words.data());
  throw BadInput(fmt::format("{}: {}", command.front(), std::strerror(errno)));
}

std::string_view word_of(Sync sync) noexcept {
  constexpr std::array<std::string_view, 3> kWords{"none", "mine", "all"};
  return kWords[static_cast<std::size_t>(sync)];
}

/// Members of an object of JSON.
std::string regret_json(const Tuned& one) {
  return fmt::format(R"(, "compared": {}, "fastest": "{}", "regret": {:.4f}, "noise": {:.4f})", one.compared,
                     one.fastest, one.regret, one.noise);
}

void print(const Tuned& one, const Way& way, Rank ranks, const Options& options) {
  const std::uint64_t element = combines(one.operation) ? bytes_of(way.type) : 1;
  const auto us = [](std::chrono::nanoseconds time) { return static_cast<double>(time.count()) / 1000; };
  if (options.json) {
    fmt::print(
        R"({{"operation": "{}", "ranks": {}, "bytes": {}, "algorithm": "{}", "median_us": {:.3f}, "runner_up": )"
        R"("{}", "runner_up_us": {:.3f}, "samples": {}, "tried": {}, "decided": {}, "in": "{}", "out": "{}", "element": {}{}}})"
        "\n",
        coll::operation_word(one.operation), ranks, one.bytes, one.algorithm, us(one.median), one.runner_up,
        us(one.runner_up_median), one.samples, one.tried, one.decided, word_of(way.sync.first),
        word_of(way.sync.second), element, options.exhaustive == 0 ? "" : regret_json(one));
  } else {
    if (way.sync != std::pair{Sync::all, Sync::all} && one.operation != Collective::barrier)
      fmt::print("sync {} to {}  ", word_of(way.sync.first), word_of(way.sync.second));
    if (element == 4) fmt::print("elements of 4 bytes  ");
    fmt::print("{}\n", found_line(one));
    if (options.exhaustive != 0) fmt::print("    {}\n", regret_words(one));
  }
}

void write_page(const std::string& file, const std::string& decisions_file) {
  std::error_code none;
  if (std::filesystem::is_directory(decisions_file, none))
    throw BadInput(fmt::format("--from: {} cannot be read: it is a folder", decisions_file));
  if (std::filesystem::exists(decisions_file, none) &&
      !std::filesystem::is_regular_file(decisions_file, none))
    throw BadInput(fmt::format("--from: {} is no file", decisions_file));
  std::ifstream in(decisions_file, std::ios::binary);
  if (!in) throw BadInput(fmt::format("--from: {} cannot be read: {}", decisions_file, std::strerror(errno)));
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  // Whatever machine it is of: a report may be made elsewhere.
  const core::JsonRead json = core::read_json(text);
  const auto says = [&](const char* name) {
    const core::Json* const found = json.value.find(name);
    return found != nullptr ? found->text : std::string();
  };
  const coll::TuningPlace place{says("machine"), says("conduit")};
  const coll::TuningRead read = coll::read_tuning(text, place);
  if (!read.problem.empty()) throw BadInput(fmt::format("{}: {}", decisions_file, read.problem));
  std::ofstream out(file, std::ios::binary);
  out << report_page(place, read.decisions);
  out.flush();
  if (!out) throw BadInput(fmt::format("--report {}: it cannot be written", file));
}

/// Fails if the page cannot be written: before the search, which takes longer.
void check_page(const std::string& file) {
  if (file.empty()) return;
  std::error_code none;
  const bool exists = std::filesystem::exists(file, none);
  const std::string folder = std::filesystem::path(file).parent_path().string();
  const std::string& written = exists ? file : folder.empty() ? "." : folder;
  if (std::filesystem::is_directory(file, none) || access(written.c_str(), W_OK) != 0)
    throw BadInput(fmt::format("--report {}: it cannot be written", file));
}

/// Fails if the launcher has started another job than the options ask for.
void check_job(const Job& job, const Options& options) {
  if (options.ranks != 0 && options.ranks != job.ranks())
    throw BadInput(fmt::format("--ranks {}, but the launcher started {}; leave --ranks out", options.ranks,
                               job.ranks()));
  const std::string conduit = job.config().text("conduit");
  if (!options.conduit.empty() && options.conduit != conduit)
    throw BadInput(fmt::format(
        "--conduit {}, but the launcher's setting is AQUEDUCT_CONDUIT={}; give the conduit to the launcher: "
        "aqrun --conduit {}",
        options.conduit, conduit, options.conduit));
}

/// A rank of another host, if there is one: its conduit names the file (coll/tuning_run.cpp).
Rank farthest(const Endpoint& me) {
  const auto near = me.neighbours();
  for (Rank rank = me.ranks(); rank-- > 0;) {
    if (std::find(near.begin(), near.end(), rank) == near.end()) return rank;
  }
  return me.ranks() > 1 ? 1 : 0;
}

/// How long the lock of the file may be held before the search: less than other ranks wait for this one.
constexpr std::chrono::milliseconds kLockPatienceBefore{1000};

/// Ends the job if what it finds cannot be saved: before the search, which takes longer.
void check_out(Job& job, const std::string& file, const coll::TuningPlace& place) {
  const std::string problem = coll::why_not_saved(file, place, kLockPatienceBefore);
  if (problem.empty()) return;
  fmt::print(stderr, "aqtune: --out: {}\n", problem);
  job.leave(2);  // the other ranks wait for this one
}

/// What was left out, by reason.
struct LeftOut {
  std::size_t by_setting = 0;
  std::size_t by_time = 0;
  std::size_t others = 0;

  void add(const TuneReport& report) noexcept {
    by_setting += report.left_out_by_setting;
    by_time += report.left_out_by_time;
    others += report.left_out - report.left_out_by_setting - report.left_out_by_time;
  }
  void print() const {
    if (by_setting != 0)
      fmt::print(stderr,
                 "aqtune: {} sizes were left out: a setting (AQUEDUCT_COLL_…) names their algorithm\n",
                 by_setting);
    if (by_time != 0)
      fmt::print(stderr, "aqtune: {} sizes were left out: more --seconds may help\n", by_time);
    if (others != 0)
      fmt::print(stderr,
                 "aqtune: {} sizes were left out: their buffers are too large, or the team has no memory for "
                 "collective calls\n",
                 others);
  }
};

/// What this rank does. Its exit status.
int tune_here(Job& job, const Options& options) {
  Endpoint& me = job.endpoint();
  check_job(job, options);
  if (me.rank() == 0) check_page(options.report);
  if (me.ranks() == 1) throw BadInput("a team of one has nothing to tune: start at least two ranks");
  TuneOptions wanted;
  wanted.candidates = options.candidates;
  wanted.save = options.out;
  wanted.exhaustive = options.exhaustive;
  Options chosen = options;
  // Nothing to choose, and no time would help.
  if (coll::Barriers::has_native(me.world().state())) std::erase(chosen.operations, Collective::barrier);
  if (chosen.operations.empty())
    throw BadInput("the barrier of these ranks is the conduit's own, which has no algorithms to choose from");
  const coll::TuningPlace place{coll::machine_kind(), me.conduit_of(farthest(me))};
  const std::string file = coll::tuning_file(options.out, place);
  if (me.rank() == 0) check_out(job, file, place);
  const auto ways = ways_of(chosen);
  LeftOut left_out;
  RegretHere regret;
  bool found = false;
  bool unsaved = false;
  for (const auto& [way, operations] : ways) {
    // What a way leaves over is not for the others: members would have to agree on it.
    wanted.time = std::chrono::nanoseconds(
        static_cast<std::int64_t>(options.seconds * 1e9 / static_cast<double>(ways.size())));
    wanted.calls.in = way.sync.first;
    wanted.calls.out = way.sync.second;
    wanted.type = way.type;
    const auto report = tune(me.world(), operations, options.bytes, wanted);
    if (!report) {
      if (me.rank() == 0) fmt::print(stderr, "aqtune: {}\n", report.status().text());
      return report.status().exit_code();
    }
    if (me.rank() != 0) continue;
    for (const Tuned& one : report->found) {
      print(one, way, me.ranks(), options);
      regret.add(one);
    }
    left_out.add(*report);
    if (report->found.empty()) continue;
    found = true;
    unsaved |= !report->saved;
  }
  if (me.rank() != 0) return 0;
  left_out.print();
  if (options.exhaustive != 0 && !options.json) fmt::print("{}", regret.summary());
  if (!found && !options.report.empty())
    fmt::print(stderr, "aqtune: nothing was tuned, so {} is not written; --from makes a page of a file\n",
               options.report);
  if (!found) return options.report.empty() ? 0 : 1;
  if (unsaved) return 1;  // the log says why
  if (!options.json) fmt::print("written: {}\n", file);
  if (options.report.empty()) return 0;
  write_page(options.report, file);
  if (!options.json) fmt::print("written: {}\n", options.report);
  return 0;
}

constexpr std::size_t kStages = 3;

/// Fails if a stage is worse than it may be, or the search takes longer.
int run_study(const StudyOptions& options) {
  const auto keys = study(options);
  print_study(keys, options);
  int outcome = 0;
  for (std::size_t stage = 0; stage < std::min(options.most.size(), kStages); ++stage) {
    const double p95 = p95_of_stage(keys, options, stage);
    if (p95 <= options.most[stage]) continue;
    fmt::print(stderr, "aqtune: --require: the p95 of stage {} is {:.1f} %, and may be {:.1f} %\n", stage,
               p95, options.most[stage]);
    outcome = 1;
  }
  if (options.most.size() <= kStages) return outcome;
  const double effort = effort_of_search(keys, options);
  if (effort <= options.most[kStages]) return outcome;
  fmt::print(
      stderr,
      "aqtune: --require: a search takes {:.1f} % of the time of an exhaustive one, and may take {:.1f} %\n",
      effort, options.most[kStages]);
  return 1;
}

int run(const Options& options, int argc, char** argv) {
  if (!options.from.empty()) {
    if (options.report.empty()) throw BadInput("--from: say where the page goes by --report");
    write_page(options.report, options.from);
    return 0;
  }
  if (options.studies) {
    return run_study(options.study);
  }
  std::error_code none;
  if (std::filesystem::exists(options.out, none) && !std::filesystem::is_regular_file(options.out, none) &&
      !std::filesystem::is_directory(options.out, none))
    throw BadInput(fmt::format("--out: {} is neither a file nor a folder", options.out));
  if (!has_launcher()) {
    check_page(options.report);
    relaunch(options, argc, argv);
  }
  Config config = Config::from_environment();
  auto job = Job::start(config);
  if (!job) return job.status().exit_code();  // the log says why
  const int outcome = tune_here(*job, options);
  const Status end = job->finish();
  return outcome != 0 ? outcome : end.exit_code();
}

}  // namespace
}  // namespace aqueduct::aqtune

static int run_tool(int argc, char** argv) {
  using aqueduct::aqtune::Options;
  Options options;
  CLI::App app(
      "Measures which algorithms of collective operations are the fastest here, and writes them down.\n"
      "  aqtune --ranks 4 --out tuning/                  on this host\n"
      "  aqrun -n 64 --hosts hosts.txt aqtune --out tuning/ --report tuning.html\n"
      "  AQUEDUCT_COLL_TUNING=tuning/ aqrun -n 64 --hosts hosts.txt ./program");
  std::string operations = "all";
  std::string bytes = "8:1M";
  std::string syncs = "all";
  std::string types = "f64";
  double noise = 0;
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
      ->check(CLI::Range(2U, 256U));
  app.add_option("--conduit", options.conduit, "without a launcher: which conduit");
  app.add_option("--out", options.out, "the file of decisions, or a folder of such files")
      ->default_str("tuning/");
  app.add_option("--report", options.report, "writes a page with the decisions of the file")
      ->type_name("FILE.html");
  app.add_option("--from", options.from, "measures nothing: the page is about this file")->type_name("FILE");
  app.add_option("--seconds", options.seconds, "what the search may take")
      ->check(CLI::Range(0.01, 1e6))
      ->capture_default_str();
  app.add_option("--candidates", options.candidates, "how many of the model's first algorithms are measured")
      ->check(CLI::Range(1U, 10000U))
      ->capture_default_str();
  app.add_option("--exhaustive", options.exhaustive,
                 "after each search, measures all algorithms so many times, and says what the choice costs; "
                 "not part of --seconds")
      ->type_name("TIMES")
      ->check(CLI::Range(2U, aqueduct::TuneOptions::kMostExhaustive));
  app.add_flag("--json", options.json, "an object on a line for each decision");
  app.add_flag("--regret", options.studies,
               "no job: how good the choices are on random simulated networks, beside an exhaustive search");
  app.add_option("--models", options.study.models, "of --regret: random machines, each with three topologies")
      ->check(CLI::Range(1U, 10000U))
      ->capture_default_str();
  app.add_option("--members", options.study.ranks, "of --regret: sizes of teams; below 2: by chance, 2 to 64")
      ->delimiter(',')
      ->check(CLI::Range(0U, 16384U))
      ->capture_default_str();
  app.add_option("--seed", options.study.seed, "of --regret")
      ->check(aqueduct::tools::given_value())
      ->capture_default_str();
  app.add_option("--calls", options.study.calls, "of --regret: calls of a key while a team learns (stage 2)")
      ->check(CLI::Range(1U, 100'000'000U))
      ->capture_default_str();
  app.add_option(
         "--require", options.study.most,
         "of --regret: fails if the p95 of stage 0, 1 or 2 is greater than this, or the time of stage 1 in "
         "that of an exhaustive search, in percent")
      ->delimiter(',')
      ->expected(1, 4)
      ->check(CLI::Range(0.0, 1e6));
  app.add_option("--noise", noise, "of --regret: how much longer measured calls take on average, in percent")
      ->check(CLI::Range(0.0, 1000.0))
      ->capture_default_str();
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;  // --help arrives here too; 2: wrong usage, as of all tools
  }
  options.study.json = options.json;
  options.study.noise = noise / 100;
  options.study.searched = options.candidates;
  if (options.out.empty()) options.out = "tuning/";
  try {
    if (!std::isfinite(options.seconds))
      throw aqueduct::aqtune::BadInput("--seconds is a number from 0.01 to 1e6");
    if (!std::isfinite(noise)) throw aqueduct::aqtune::BadInput("--noise is a number from 0 to 1000");
    for (const double most : options.study.most) {
      if (!std::isfinite(most)) throw aqueduct::aqtune::BadInput("--require has numbers from 0 to 1e6");
    }
    if (!options.study.most.empty() && !options.studies)
      throw aqueduct::aqtune::BadInput("--require is for --regret: give both");
    if (!options.report.empty() && !options.report.ends_with(".html"))
      throw aqueduct::aqtune::BadInput(
          fmt::format("--report {}: the page is HTML, so its name ends in .html", options.report));
    options.operations = aqueduct::aqtune::read_operations(operations);
    options.bytes = aqueduct::aqtune::read_sizes(bytes);
    options.syncs = aqueduct::aqtune::read_syncs(syncs);
    options.types = aqueduct::aqtune::read_types(types);
    aqueduct::aqtune::check_sizes(options.operations, options.bytes, options.types);
    return aqueduct::aqtune::run(options, argc, argv);
  } catch (const std::system_error& problem) {
    return aqueduct::tools::after_system_error("aqtune", problem, 2);
  } catch (const std::exception& problem) {
    fmt::print(stderr, "aqtune: {}\n", problem.what());
    return 2;
  }
}

int main(int argc, char** argv) {
  aqueduct::tools::keep_standard_places();
  return aqueduct::tools::after_output("aqtune", run_tool(argc, argv));
}
