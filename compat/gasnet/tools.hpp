#pragma once

#include <atomic>
#include <cstdint>

namespace aqueduct::gasnet {

/// Finds a variable of the job's environment; null without a job, and for unknown variables. Set when a job starts.
extern const char* (*job_variable)(const char* name);

/// The rank in the job; kNoJob before it starts.
inline constexpr std::uint32_t kNoJob = ~std::uint32_t{0};
extern std::atomic<std::uint32_t> rank_here;

/// Whether gasnett_fatalerror has printed why the process ends, and a backtrace if wanted.
extern std::atomic<bool> fatal_error_shown;

/// Waits for a debugger, or SIGCONT. Handlers of signals may call it.
void freeze() noexcept;

/// GASNET_BACKTRACE and GASNET_BACKTRACE_NODES, on this rank.
bool backtraces_are_wanted();
/// Chooses the mechanisms of print_prepared_backtrace.
void prepare_backtraces();
/// As gasnett_print_backtrace, for handlers of signals: reads no variables, and allocates nothing.
int print_prepared_backtrace(int fd) noexcept;

}  // namespace aqueduct::gasnet
