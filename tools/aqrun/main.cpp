#include "tools/aqrun/agent.hpp"
#include "tools/aqrun/leftovers.hpp"
#include "tools/aqrun/options.hpp"
#include "tools/aqrun/spawn.hpp"
#include "tools/aqrun/supervisor.hpp"
#include "tools/standard_output.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <string_view>

int main(int argc, char** argv) {
  try {
    aqueduct::tools::keep_standard_places();
    if (argc == 2 && std::string_view(argv[1]) == aqrun::kAgentOption) return aqrun::run_agent();
    const auto read = aqrun::read_options(argc, argv);
    if (const auto* ended = std::get_if<aqrun::Ended>(&read))
      return aqueduct::tools::after_output("aqrun", ended->status);
    const auto& options = std::get<aqrun::Options>(read);
    aqrun::Leader leader(aqrun::shared_memory_folder(options.environment));
    return aqrun::Supervisor(options, leader).run();
  } catch (const std::exception& error) {  // out of memory, most likely
    fmt::print(stderr, "aqrun: {}\n", error.what());
    return 1;
  }
}
