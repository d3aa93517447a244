#include "core/readable.hpp"
#include "tools/aqsim/command_line.hpp"
#include "tools/aqsim/run.hpp"
#include "tools/standard_output.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <initializer_list>
#include <new>
#include <string>
#include <string_view>
#include <system_error>

// aqsim: runs the schedules of collectives in virtual time, on modelled networks of any size. See docs/simulator.md.

namespace aqueduct::aqsim {
namespace {

void show_networks() {
  for (const sim::BuiltIn& one : sim::built_in_networks()) fmt::print("{:<18} {}\n", one.name, one.what);
}

/// Refuses simulation options beside an action that simulates nothing: they would have no effect.
void alone(const CLI::App& app, std::string_view what, std::initializer_list<std::string_view> taken) {
  for (const CLI::Option* const option : app.get_options()) {
    const std::string name = option->get_name();
    if (option->count() == 0 || std::find(taken.begin(), taken.end(), name) != taken.end()) continue;
    throw sim::BadInput(fmt::format("{} simulates nothing that {} is for: leave it out", what, name));
  }
}

}  // namespace
}  // namespace aqueduct::aqsim

static int run_tool(int argc, char** argv) {
  using aqueduct::aqsim::Options;
  Options options;
  CLI::App app(
      "Runs the schedule of a collective operation in virtual time, on a modelled network.\n"
      "  aqsim barrier --ranks 32768\n"
      "  aqsim all_to_all --ranks 1K --bytes 8:4K --algorithm bruck:8 --network torus --json\n"
      "  aqsim broadcast --ranks 16:16K --algorithm all --plot broadcast.html\n"
      "  aqsim curves      the curves of the source beside ours");
  aqueduct::aqsim::CommandLine line;
  line.add_to(app, options);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;  // --help arrives here too; 2: wrong usage, as of all tools
  }
  try {
    if (line.networks) {
      aqueduct::aqsim::alone(app, "--networks", {"--networks"});
      aqueduct::aqsim::show_networks();
      return 0;
    }
    if (!std::isfinite(options.compute_us) || !std::isfinite(options.late_us))
      throw aqueduct::sim::BadInput("--compute and --late are numbers of microseconds from 0 to 1e9");
    if (options.operation.empty())
      throw aqueduct::sim::BadInput("which operation? Such as: aqsim barrier --ranks 1024");
    if (options.operation == "curves") {
      aqueduct::aqsim::alone(app, "curves", {"operation", "--json"});
      return aqueduct::aqsim::curves(options.json);
    }
    line.read_into(options);
    return aqueduct::aqsim::run(options);
  } catch (const aqueduct::sim::BadInput& problem) {
    fmt::print(stderr, "aqsim: {}\n", aqueduct::core::readable(problem.what()));
    return 2;
  } catch (const std::bad_alloc&) {
    return aqueduct::tools::after_no_memory("aqsim", 2);
  } catch (const std::system_error& error) {
    return aqueduct::tools::after_system_error("aqsim", error);
  }
}

int main(int argc, char** argv) {
  aqueduct::tools::keep_standard_places();
  return aqueduct::tools::after_output("aqsim", run_tool(argc, argv));
}
