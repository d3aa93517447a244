#include "tests/conformance/kit.hpp"

#include "conduits/registry.hpp"
#include "core/settings.hpp"
#include "tests/conformance/launcher_run.hpp"
#include "tests/conformance/rank_line.hpp"
#include "tests/conformance/table.hpp"
#include "tools/given_value.hpp"

#include <CLI/CLI.hpp>
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

namespace aqueduct::conformance {

namespace {

// Sanitizers slow everything down, some waits by more than a factor of ten.
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr int kStandardLimit = 240;
#else
constexpr int kStandardLimit = 60;
#endif

constexpr int kUsage = 2;

int print_list(const Selection& selection) {
  std::string list;
  for (const Fabric& fabric : select(selection)) {
    const std::string processes = fabric.one_process()    ? "threads of one process"
                                  : fabric.process_each() ? "a process each"
                                                          : fmt::format("{} processes", fabric.processes);
    std::string settings;
    for (const auto& [name, value] : fabric.settings) settings += fmt::format(" {}={}", name, value);
    list += fmt::format("{:24} {:8} up to {} ranks, {};{}\n", fabric.name, fabric.conduit, fabric.most_ranks,
                        processes, settings);
  }
  return std::fputs(list.c_str(), stdout) >= 0 ? 0 : 1;
}

/// Says that no conduit has this name; empty if one has, or if the name is a plug-in's file.
std::string unknown_conduit(const std::string& name) {
  if (conduits::is_path(name))
    return fmt::format("--conduit {}: that is a file; use --plugin FILE", core::quoted(name));
  if (name.empty() || conduits::find(name) != nullptr) return {};
  return fmt::format(
      "--conduit {}: there is no such conduit; this build has {}, and --plugin FILE takes others{}",
      core::quoted(name), conduits::names(), conduits::nearest(name).hint());
}

/// Runs the cases and prints the table. Returns the exit status.
int run_cases(const std::string& program) {
  auto* table = new Table;  // GoogleTest owns it
  testing::UnitTest::GetInstance()->listeners().Append(table);
  const int failed = RUN_ALL_TESTS();
  if (testing::GTEST_FLAG(list_tests)) return 0;
  std::fputs(table->text().c_str(), stdout);
  std::fflush(stdout);
  if (table->is_empty()) {
    fmt::print(stderr,
               "{}: no case of these fabrics matches --gtest_filter={}; --gtest_list_tests lists them\n",
               program, core::quoted(testing::GTEST_FLAG(filter)));
  }
  return failed == 0 && table->all_passed() ? 0 : 1;
}

/// In a process of a launcher: runs the case that the filter names. The case exits the program in its launch.
int run_case_as_rank(int number) {
  auto& listeners = testing::UnitTest::GetInstance()->listeners();
  delete listeners.Release(listeners.default_result_printer());
  delete listeners.Release(
      listeners.default_xml_generator());  // the kit that started the launcher writes the report
  auto* telling = new TellingListener;     // GoogleTest owns it
  listeners.Append(telling);
  [[maybe_unused]] const int failures = RUN_ALL_TESTS();  // GoogleTest forbids to ignore it
  if (telling->has_told()) return 0;                      // SetUp has skipped the case
  const std::string filter = testing::GTEST_FLAG(filter);
  const std::string text =
      fmt::format("{} has no launch {} in this program: is it another version?", filter, number);
  tell_kit({RankLine::Kind::failed, {"", 0, text}, kNoRank});
  return 1;
}

/// Adds the kit's options to the parser, which keeps references to all of these.
void add_options(CLI::App& app, Selection& selection, long& limit, bool& only_list) {
  auto* conduit = app.add_option("--conduit", selection.conduit, "only this conduit's fabrics")
                      ->check(tools::given_value());
  app.add_option("--plugin", selection.plugin, "a conduit in a shared object, as AQUEDUCT_CONDUIT=FILE")
      ->check(CLI::ExistingFile)
      ->excludes(conduit);
  app.add_option("--fabric", selection.fabric,
                 "only fabrics whose names contain this, or one of several comma-separated texts")
      ->check(tools::given_value());
  app.add_flag("--list", only_list, "print the fabrics and stop");
  app.add_option("--ranks", selection.most_ranks, "the largest number of ranks of one job")
      ->check(tools::decimal())
      ->check(CLI::Range(1, 256))
      ->capture_default_str();
  app.add_option("--seed", selection.seed, "seed of all random choices")
      ->check(tools::decimal())
      ->capture_default_str();
  app.add_option("--limit", limit, "seconds that one job may take")
      ->check(tools::decimal())
      ->check(CLI::Range(1, 86400))
      ->capture_default_str();
  app.add_option("--thorough", selection.thorough, "factor for the length of the random programs")
      ->check(tools::decimal())
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  app.add_flag("--brief", selection.brief,
               "repeats less what the library does alike above all conduits; for fabrics beside one that "
               "runs in full");
  app.add_option(
         "--launcher", selection.launcher,
         "a shell command that starts {ranks} processes here or on other hosts, which are the ranks: 'mpirun "
         "-n {ranks}', 'aqrun -n {ranks} --hosts FILE'. It runs once for each job of a case, with the kit's "
         "own "
         "command line appended, on fabrics of a process each")
      ->check([](const std::string& text) {
        const bool has_place = text.find(kRanksPlace) != std::string::npos;
        return has_place ? std::string() : "it must have {ranks}, the number of processes to start";
      });
  app.add_option("--as-rank", selection.as_rank, "what the kit appends to the launcher's command")->group("");
  app.add_flag("--failing", selection.failing, "adds the suite Failing, whose cases fail on purpose")
      ->group("");
  app.footer("GoogleTest's own options work too: --gtest_filter=*Put* --gtest_repeat=10 …");
  app.allow_extras();
}

/// Says what is wrong with the selected conduit, if something is. Returns whether it is usable.
bool has_usable_conduit(const Selection& selection, const std::string& program) {
  if (const std::string problem = unknown_conduit(selection.conduit); !problem.empty()) {
    fmt::print(stderr, "{}: {}\n", program, problem);
    return false;
  }
  if (!selection.plugin.empty()) {
    if (const conduits::Available& loaded = conduits::at_path(selection.plugin); loaded.entry == nullptr) {
      fmt::print(stderr, "{}: --plugin {}: {}\n", program, selection.plugin, loaded.problem);
      return false;
    }
  }
  return true;
}

/// Starts GoogleTest with the arguments that the kit does not know. It instantiates the suites during its start, for the
/// selected fabrics. Returns whether it knows them all.
bool start_google_test(char* own_name, const std::vector<std::string>& others, const Selection& selection,
                       const std::string& program) {
  std::vector<std::string> rest = {own_name};
  for (const std::string& extra : others) rest.push_back(extra);
  std::vector<char*> arguments;
  for (std::string& argument : rest) arguments.push_back(argument.data());
  int count = static_cast<int>(arguments.size());
  arguments.push_back(nullptr);
  if (selection.as_rank != 0) {
    // A rank runs the one case that it was started for, in every shard.
    for (const char* const variable : {"GTEST_TOTAL_SHARDS", "GTEST_SHARD_INDEX", "GTEST_SHARD_STATUS_FILE"})
      ::unsetenv(variable);
  }
  testing::InitGoogleTest(&count, arguments.data());
  if (count > 1) {
    fmt::print(stderr, "{}: unknown option '{}'; try {} --help\n", program, arguments[1], program);
    return false;
  }
  return true;
}

}  // namespace

int run_kit(int argc, char** argv, FabricList fabrics) {
  Selection& selection = program_selection();
  selection.all = fabrics;
  const std::string program = std::filesystem::path(argv[0]).filename();
  long limit = kStandardLimit;
  bool only_list = false;

  CLI::App app("Checks that a conduit does everything that Aqueduct requires.", program);
  add_options(app, selection, limit, only_list);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kUsage;
  }

  selection.limit = std::chrono::seconds(limit);
  if (!selection.plugin.empty() && !conduits::is_path(selection.plugin)) {
    selection.plugin.insert(0, "./");  // a '/' distinguishes a file from a name
  }
  if (!has_usable_conduit(selection, program)) return kUsage;
  if (only_list) return print_list(selection);
  if (select(selection).empty()) {
    fmt::print(stderr, "{}: there is no fabric{}{}{}; try {} --list\n", program,
               selection.conduit.empty() ? "" : fmt::format(" of conduit '{}'", selection.conduit),
               selection.launches() ? " with a process for each rank" : "",
               selection.fabric.empty() ? "" : fmt::format(" whose name contains '{}'", selection.fabric),
               program);
    return kUsage;
  }
  if (!start_google_test(argv[0], app.remaining(), selection, program)) return kUsage;
  return selection.as_rank != 0 ? run_case_as_rank(selection.as_rank) : run_cases(program);
}

}  // namespace aqueduct::conformance
