#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace aqrun {

/// No job is larger; chosen: one host, and three descriptors a process fit into the usual limit of 1024.
inline constexpr std::uint32_t kMostRanks = 256;

/// What the command line asks for.
struct Options {
  std::uint32_t ranks = 0;
  std::uint32_t endpoints = 1;  ///< ranks per process
  bool endpoints_given = false;
  std::vector<std::string> environment;  ///< "NAME=value", added for the ranks
  bool tag = false;
  std::string bind = "auto";
  std::chrono::milliseconds grace{3000};
  std::chrono::milliseconds timeout{0};  ///< 0: none
  bool stdin_to_first = true;
  bool verbose = false;
  std::vector<std::string> program;  ///< and its arguments

  std::uint32_t processes() const noexcept { return (ranks + endpoints - 1) / endpoints; }
};

/// The program ends here, with this status; what was to be said has been said.
struct Ended {
  int status = 0;
};

/// Reads the command line up to PROGRAM; what follows belongs to the program.
std::variant<Options, Ended> read_options(int argc, char** argv);

/// "rank 3", or "ranks 4-7" for a process with several.
std::string ranks_of_process(const Options& options, std::uint32_t process);

/// The status for a command line that cannot be carried out.
inline constexpr int kUsageStatus = 2;

}  // namespace aqrun
