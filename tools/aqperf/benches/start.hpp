#pragma once

#include "tools/aqperf/options.hpp"
#include "tools/aqperf/report/report.hpp"

namespace aqueduct::perf {

/// The first argument of a rank in the jobs that `start` times, and of a process that its raw measure starts.
inline constexpr const char* kStartMember = "start-member";
inline constexpr const char* kStartNothing = "start-nothing";

/// Times whole jobs repeatedly, from aqrun's start to its end.
void time_starts(const Options& options, Reporter& reporter);

/// What a rank of such a job does: joins, meets all others once, reports how much memory
/// it used, leaves. Returns the exit status.
int start_member();

}  // namespace aqueduct::perf
