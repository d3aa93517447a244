#pragma once

#include "tools/aqrun/hosts.hpp"

#include <chrono>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace aqrun {

/// The largest job; chosen: at three descriptors per process it fits into the usual limit of 1024.
inline constexpr std::uint32_t kMostRanks = 256;

/// The options of the command line.
struct Options {
  std::uint32_t ranks = 0;
  std::uint32_t endpoints = 1;  ///< ranks per process
  bool endpoints_given = false;
  std::vector<std::string> environment;  ///< "NAME=value", additional variables of the ranks
  bool tag = false;
  std::string bind = "auto";
  std::chrono::milliseconds grace{3000};
  std::chrono::milliseconds timeout{0};  ///< 0: none
  bool stdin_to_first = true;
  bool verbose = false;
  std::vector<std::string> program;  ///< the program and its arguments
  std::vector<Share> shares;         ///< which host runs which ranks; empty: all run on this host
  std::string remote;                ///< how to run a command on another host
  std::string remote_aqrun;          ///< the path of aqrun there; empty: the same as here
  std::chrono::milliseconds connect{0};

  std::uint32_t processes() const noexcept { return (ranks + endpoints - 1) / endpoints; }
};

/// The program ends with this status; everything has been printed.
struct Ended {
  int status = 0;
};

/// Reads the command line up to PROGRAM; what follows are the program's arguments.
std::variant<Options, Ended> read_options(int argc, char** argv);

/// How many ranks the process has.
std::uint32_t endpoints_of_process(const Options& options, std::uint32_t process);
/// "1 rank", "2 ranks"
std::string quantity_of_ranks(std::uint32_t count);
/// "rank 3", or "ranks 4-7" for a process with several.
std::string ranks_of_process(const Options& options, std::uint32_t process);
/// The label of its output lines: "[3] " or "[4-7] " with --tag, else empty.
std::string label_of_process(const Options& options, std::uint32_t process);

/// The exit status for a wrong command line.
inline constexpr int kUsageStatus = 2;

}  // namespace aqrun
