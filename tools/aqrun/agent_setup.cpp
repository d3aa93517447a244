#include "tools/aqrun/agent_setup.hpp"

#include <aqueduct/version.hpp>

#include "core/settings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace aqrun {

Frame hello_of_this_version() {
  return {Kind::hello, 0, kAgentProtocol, std::string(kAgentMagic) + aqueduct::library_version_text()};
}

std::string complaint_about_hello(const Frame& frame) {
  if (frame.kind != Kind::hello || !frame.bytes.starts_with(kAgentMagic)) {
    return "the answer does not come from an agent of aqrun";
  }
  const std::string version = frame.bytes.substr(kAgentMagic.size());
  const std::string ours = aqueduct::library_version_text();
  if (frame.number == kAgentProtocol && version == ours) return {};
  return fmt::format(
      "aqrun there is version {} (agent protocol {}), here it is {} (agent protocol {}); install one version "
      "on all hosts, or name the right one with --remote-aqrun",
      aqueduct::core::quoted(version), frame.number, ours, kAgentProtocol);
}

void AgentSetup::take(Frame& frame) {
  switch (frame.kind) {
    case Kind::hello: return take_hello(frame);
    case Kind::folder: folder = std::move(frame.bytes); return;
    case Kind::argument: program.push_back(std::move(frame.bytes)); return;
    case Kind::variable: environment.push_back(std::move(frame.bytes)); return;
    case Kind::binding: binding = std::move(frame.bytes); return;
    case Kind::process: return take_process(frame);
    case Kind::start:
      reads_input = frame.number != 0;
      complete = true;
      if (program.empty() || processes.empty()) problem = "aqrun named no program or no process";
      return;
    default: problem = "aqrun sent an unexpected frame before the start";
  }
}

std::vector<std::uint32_t> AgentSetup::ranks_of_processes() const {
  std::vector<std::uint32_t> ranks;
  for (const Process& process : processes) ranks.push_back(std::max(1u, process.endpoints));
  return ranks;
}

void AgentSetup::take_hello(const Frame& frame) { problem = complaint_about_hello(frame); }

void AgentSetup::take_process(const Frame& frame) {
  const auto about = aqueduct::bootstrap::parse_description(frame.bytes);
  const bool next = about && about->process == frame.process &&
                    (processes.empty() || processes.back().about.process + 1 == frame.process);
  if (!next) {
    problem = "aqrun sent a description of a process that cannot be read";
  } else {
    processes.push_back({frame.number, *about});
  }
}

}  // namespace aqrun
