#pragma once

#include "tools/aqperf/options.hpp"

#include <string>
#include <vector>

namespace aqueduct::perf {

/// Whether a launcher started this process as a rank of a job.
bool has_launcher();

/// The aqrun beside this program. Throws Failure if there is none.
std::string aqrun_beside();
/// This program's own file.
std::string own_program();

/// Replaces this process by `aqrun -n RANKS aqperf ARGS…`, with the same arguments. Throws Failure if it
/// cannot.
[[noreturn]] void relaunch(const Options& options, int argc, char** argv);

/// Runs a program to its end and returns what it wrote. Throws Failure if it cannot, or it fails.
std::string output_of(const std::vector<std::string>& command);

}  // namespace aqueduct::perf
