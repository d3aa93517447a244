#pragma once

#include <atomic>

namespace aqueduct::gasnet {

/// Finds a variable of the job's environment; null without a job, and for unknown variables. Set when a job starts.
extern const char* (*job_variable)(const char* name);

/// Whether gasnett_fatalerror has printed why the process ends, and a backtrace if wanted.
extern std::atomic<bool> fatal_error_shown;

/// Chooses the mechanisms of print_prepared_backtrace.
void prepare_backtraces();
/// As gasnett_print_backtrace, for handlers of signals: reads no variables, and allocates nothing.
int print_prepared_backtrace(int fd) noexcept;

}  // namespace aqueduct::gasnet
