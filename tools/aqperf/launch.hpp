#pragma once

#include "tools/aqperf/options.hpp"

#include <string>
#include <vector>

namespace aqueduct::perf {

/// Whether a launcher started this process as a rank of a job.
bool has_launcher();

/// The path of the aqrun beside this program. Throws Failure if there is none.
std::string aqrun_beside();
/// The path of this program's own file.
std::string own_program();

/// Whether the job must be started with AQUEDUCT_NEAR=off. True if --conduit names a conduit that leaves ranks of one
/// host to shared memory, and the environment does not set AQUEDUCT_NEAR. Without it a job on one host would measure
/// shared memory instead of the named conduit.
bool must_leave_near(const Options& options);
/// The remark for the user in that case.
std::string near_is_off(const Options& options);
/// The command line of aqrun on this host, up to the program, for the job of these options. Prints
/// a remark on standard error if near is off.
std::vector<std::string> aqrun_command(const Options& options);

/// Replaces this process by `aqrun -n RANKS aqperf ARGS…`, with the same arguments. Throws Failure if that fails.
[[noreturn]] void relaunch(const Options& options, int argc, char** argv);

/// Runs a program to its end and returns its output. Throws Failure if it cannot be run or it fails.
std::string output_of(const std::vector<std::string>& command);

}  // namespace aqueduct::perf
