#pragma once

#include "bootstrap/description.hpp"
#include "tools/aqrun/frame.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace aqrun {

/// What an agent has to start, as the first frames say it.
struct AgentSetup {
  struct Process {
    std::uint32_t endpoints = 0;  ///< for AQUEDUCT_ENDPOINTS, unless 0
    aqueduct::bootstrap::Description about;
  };
  std::string folder, binding = "none";
  std::vector<std::string> program;
  std::vector<std::string> environment;
  std::vector<Process> processes;  ///< numbered one after the other
  bool reads_input = false;        ///< the first of them
  bool complete = false;
  std::string problem;  ///< why it cannot be carried out

  void take(Frame& frame);
  std::uint32_t ranks_per_process() const noexcept {
    return processes.empty() ? 1 : std::max(1u, processes.front().endpoints);
  }

 private:
  void take_hello(const Frame& frame);
  void take_process(const Frame& frame);
};

/// What either side says first.
Frame hello_of_this_version();
/// Why the other side's first frame is not good enough; empty if it is.
std::string complaint_about_hello(const Frame& frame);

}  // namespace aqrun
