#pragma once

// The C face of aqueduct/job.hpp.

#include <aqueduct/c/config.h>

#ifdef __cplusplus
extern "C" {
#endif

/// One run of a program on all its ranks, and the endpoints that this process holds.
typedef struct aq_job aq_job;

// For the inline functions below, and for bindings of other languages: `layout` is the AQ_LAYOUT of the headers for which the
// caller was written.
aq_status aq_job_start_of_layout(uint32_t layout, const aq_config* config, aq_job** job) AQ_MUST_USE;
aq_status aq_job_in_process_of_layout(uint32_t layout, uint32_t ranks, const aq_config* config,
                                      aq_job** job) AQ_MUST_USE;

/// Joins the job for which a launcher started this process, or starts one of this process alone. `config` may be null:
/// the environment's settings.
///
/// Errors: AQ_VERSION_MISMATCH also if the library has another AQ_LAYOUT.
AQ_MUST_USE static inline aq_status aq_job_start(const aq_config* config, aq_job** job) {
  return aq_job_start_of_layout(AQ_LAYOUT, config, job);
}
/// Starts a job of `ranks` ranks, all in this process.
AQ_MUST_USE static inline aq_status aq_job_in_process(uint32_t ranks, const aq_config* config, aq_job** job) {
  return aq_job_in_process_of_layout(AQ_LAYOUT, ranks, config, job);
}

uint32_t aq_job_ranks(const aq_job* job);
size_t aq_job_endpoints(const aq_job* job);
/// An endpoint of this process; null if the index is outside. It lives as long as the job.
aq_endpoint* aq_job_endpoint(aq_job* job, size_t index);
/// Runs `body` once for each endpoint of this process, each on its own thread, and returns when all have returned.
///
/// Errors: AQ_NO_MEMORY (a thread cannot be started), AQ_INVALID_ARGUMENT (no body).
aq_status aq_job_run_each(aq_job* job, void (*body)(aq_endpoint* ep, void* context),
                          void* context) AQ_MUST_USE;

/// Ends the job: collective. `job` is gone afterwards, whatever the status says, but for AQ_IN_HANDLER: then nothing has
/// happened.
aq_status aq_job_finish(aq_job* job) AQ_MUST_USE;
/// Leaves the job abruptly: the other ranks see AQ_PEER_LOST. `job` may be null.
void aq_job_destroy(aq_job* job);
/// Reports to the launcher that the job has failed; the launcher ends all ranks. `why` may be null.
void aq_job_abort(aq_job* job, int exit_code, const char* why);
/// Ends the whole job, this process included, with `code`. From any thread or handler, not from a signal handler. Null: this process
/// alone.
void aq_job_leave(aq_job* job, int code) __attribute__((__noreturn__));
/// Asks this process to leave with `code`; returns at once. Async-signal-safe. Null: nothing happens, and nothing is logged.
void aq_job_request_leave(aq_job* job, int code);

/// How the job was started: "aqrun", "pmix", "pmi1", "alone" or "in-process".
size_t aq_job_launcher(const aq_job* job, char* text, size_t bytes);
/// The settings with which the job was started. Lives as long as the job.
const aq_config* aq_job_config(const aq_job* job);

#ifdef __cplusplus
}
#endif
