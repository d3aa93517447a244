#pragma once

#include "tools/aqrun/hosts.hpp"

#include <chrono>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace aqrun {

/// No job is larger; chosen: three descriptors a process fit into the usual limit of 1024.
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
  std::vector<Share> shares;         ///< which host runs what; empty: this one runs all
  std::string remote;                ///< how to run a command on another host
  std::string remote_aqrun;          ///< where aqrun is there; empty: where it is here
  std::chrono::milliseconds connect{0};

  std::uint32_t processes() const noexcept { return (ranks + endpoints - 1) / endpoints; }
};

/// The program ends here, with this status; what was to be said has been said.
struct Ended {
  int status = 0;
};

/// Reads the command line up to PROGRAM; what follows belongs to the program.
std::variant<Options, Ended> read_options(int argc, char** argv);

/// How many ranks the process has.
std::uint32_t endpoints_of_process(const Options& options, std::uint32_t process);
/// "1 rank", "2 ranks"
std::string quantity_of_ranks(std::uint32_t count);
/// "rank 3", or "ranks 4-7" for a process with several.
std::string ranks_of_process(const Options& options, std::uint32_t process);
/// What each line of its output begins with: "[3] " or "[4-7] " if that is wanted.
std::string label_of_process(const Options& options, std::uint32_t process);

/// The status for a command line that cannot be carried out.
inline constexpr int kUsageStatus = 2;

}  // namespace aqrun
