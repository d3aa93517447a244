#pragma once

#include "tools/aqperf/options.hpp"
#include "tools/aqperf/report.hpp"

namespace aqueduct::perf {

/// The first argument of a rank of the jobs that `start` times, and of the processes that its raw measure
/// starts.
inline constexpr const char* kStartMember = "start-member";
inline constexpr const char* kStartNothing = "start-nothing";

/// Times whole jobs, from aqrun's start to its end, again and again.
void time_starts(const Options& options, Reporter& reporter);

/// What a rank of such a job does: joins, meets all others once, says how much memory it took, leaves. Its
/// exit status.
int start_member();

}  // namespace aqueduct::perf
