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

/// Whether --conduit names one that leaves ranks of one host to shared memory, unless AQUEDUCT_NEAR is off, and the
/// environment does not say which it shall be. Who begins a job on one host then turns it off: what was asked for is
/// to be measured.
bool must_leave_near(const Options& options);
/// What a user is told then.
std::string near_is_off(const Options& options);
/// aqrun on this host with the job that the options ask for, up to the program. Says on standard error if near is off.
std::vector<std::string> aqrun_command(const Options& options);

/// Replaces this process by `aqrun -n RANKS aqperf ARGS…`, with the same arguments. Throws Failure if it
/// cannot.
[[noreturn]] void relaunch(const Options& options, int argc, char** argv);

/// Runs a program to its end and returns what it wrote. Throws Failure if it cannot, or it fails.
std::string output_of(const std::vector<std::string>& command);

}  // namespace aqueduct::perf
