#pragma once

#include "bootstrap/description.hpp"
#include "tools/aqrun/frame.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace aqrun {

/// What an agent has to start, collected from the first frames.
struct AgentSetup {
  struct Process {
    std::uint32_t endpoints = 0;  ///< for AQUEDUCT_ENDPOINTS, unless 0
    aqueduct::bootstrap::Description about;
  };
  std::string folder, binding = "none";
  std::vector<std::string> program;
  std::vector<std::string> environment;
  std::vector<Process> processes;  ///< with consecutive numbers
  bool reads_input = false;        ///< whether the first of them reads the input
  bool complete = false;
  std::string problem;  ///< why the setup is invalid; empty if it is not

  void take(Frame& frame);
  std::vector<std::uint32_t> ranks_of_processes() const;

 private:
  void take_hello(const Frame& frame);
  void take_process(const Frame& frame);
};

/// The first frame of either side.
Frame hello_of_this_version();
/// Why the other side's first frame is not acceptable; empty if it is.
std::string complaint_about_hello(const Frame& frame);

}  // namespace aqrun
