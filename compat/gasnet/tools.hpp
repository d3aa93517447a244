#pragma once

namespace aqueduct::gasnet {

/// Finds a variable of the job's environment; null without a job, and for unknown variables. Set when a job starts.
extern const char* (*job_variable)(const char* name);

}  // namespace aqueduct::gasnet
