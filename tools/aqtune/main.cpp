#include <aqueduct/aqueduct.hpp>

#include "bootstrap/launcher.hpp"
#include "conduits/registry.hpp"
#include "tools/aqtune/command_line.hpp"
#include "tools/aqtune/options.hpp"
#include "tools/aqtune/page.hpp"
#include "tools/aqtune/search.hpp"
#include "tools/standard_output.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <new>
#include <string>
#include <system_error>
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
                                   std::to_string(options.ranks == 0 ? 2 : options.ranks), "--endpoints",
                                   "1"};
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
  aqueduct::aqtune::CommandLine line;
  line.add_to(app, options);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;  // --help arrives here too; 2: wrong usage, as of all tools
  }
  try {
    line.read_into(options);
    return aqueduct::aqtune::run(options, argc, argv);
  } catch (const std::system_error& problem) {
    return aqueduct::tools::after_system_error("aqtune", problem, 2);
  } catch (const std::bad_alloc&) {
    return aqueduct::tools::after_no_memory("aqtune", 2);
  } catch (const std::exception& problem) {
    fmt::print(stderr, "aqtune: {}\n", problem.what());
    return 2;
  }
}

int main(int argc, char** argv) {
  aqueduct::tools::keep_standard_places();
  return aqueduct::tools::after_output("aqtune", run_tool(argc, argv));
}
