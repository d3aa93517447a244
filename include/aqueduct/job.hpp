#pragma once

#include <aqueduct/config.hpp>
#include <aqueduct/endpoint.hpp>

#include <cstddef>
#include <functional>
#include <memory>
#include <string_view>

namespace aqueduct {

/// One run of a program on all its ranks, and the endpoints that this process holds.
///
/// Lifetime:  ends by `finish()`, or with the whole program by `leave()`. Destroying a Job without these leaves the job
///            abruptly: the other ranks see peer_lost. A program that calls `exit` with a status other than 0 while it
///            has a Job ends the whole job with this status, as by `leave`, and its exit handlers run. The first of
///            them that waits for another rank ends the process. One that joins a thread which is inside the library
///            is cut off after AQUEDUCT_EXIT_TIMEOUT. With status 0 the program leaves abruptly.
/// Processes: belongs to the process that started it. A forked child's copy does nothing, not even when destroyed.
class Job {
 public:
  /// Joins the job for which a launcher started this process: aqrun, or mpirun, srun and others through PMIx or
  /// PMI-1. Without a launcher, the job consists of this process alone. AQUEDUCT_ENDPOINTS is the number of ranks
  /// that this process holds (default 1). A process can join its launcher's job once. Under PMIx several Jobs at a time
  /// are possible, if all processes of the launcher's job start each of them.
  ///
  /// Completion: when it returns, every rank has an address and the primary segment. Connections are made at first use.
  /// Errors:     bad_setting, bootstrap_failed, timed_out (AQUEDUCT_BOOTSTRAP_TIMEOUT), version_mismatch,
  ///             not_supported (no conduit can serve this job), network_failed, no_memory, no_space,
  ///             peer_lost. The rank that detects the error logs the reason.
  static Result<Job> start(const Config& config = Config::from_environment());
  /// Starts a job of `ranks` ranks, all in this process. Any launcher is ignored. The conduit smp, which serves them if
  /// the settings name no other one, serves 256; AQUEDUCT_CONDUIT=loop serves more.
  ///
  /// Errors: as start, and invalid_argument (no ranks, or more than 1024).
  static Result<Job> in_process(Rank ranks, const Config& config = Config::from_environment());

  Job(Job&&) noexcept;
  Job& operator=(Job&&) noexcept;
  ~Job();

  Rank ranks() const noexcept;
  /// How many endpoints (ranks) this process holds.
  std::size_t endpoints() const noexcept;
  /// An endpoint of this process. Requires: index < endpoints().
  Endpoint& endpoint(std::size_t index = 0) noexcept;

  /// Runs `body` once for each endpoint of this process, each on its own thread. Returns when all have returned. If a thread
  /// cannot be started, no body runs.
  ///
  /// Throws std::system_error (a thread cannot be started) or std::bad_alloc, before any body has begun. An exception of
  /// the body reaches the caller if this process holds one endpoint; otherwise it ends the program, since the other bodies
  /// may wait for this one.
  void run_each(const std::function<void(Endpoint&)>& body);

  /// Ends the job: collective. Waits for all ranks, then closes everything.
  ///
  /// Barriers of all ranks may be left in flight, and ranks may leave different numbers of them: they do not hold the call up. A
  /// rank in this call takes part in no further one: a barrier that it has not begun ends with mismatch, also that of a rank
  /// that waits for it before it finishes itself.
  ///
  /// Lifetime: wait for other Events in flight and destroy prepared payloads before the call. No endpoint may be used after
  ///           it. A leave that `request_leave` has asked for by then happens here: the call does not return.
  /// Errors:   peer_lost if a rank died earlier: waits for the other ranks too, but for two seconds at most, and closes
  ///           everything. in_handler (in a handler or a continuation of one of this process's endpoints; nothing has
  ///           happened). invalid_argument in a forked child.
  Status finish();
  /// Reports to the launcher that the job has failed, with a reason in words. The launcher then ends all ranks.
  /// Without a launcher, the call does nothing. A code whose low 8 bits are 0 would look like a success outside: it
  /// counts as 1.
  void abort(int exit_code, std::string_view why) noexcept;

  /// Ends the whole job, this process included, with `code`; does not return. The launcher learns the code, and 0 is a
  /// success for aqrun (docs/clusters.md has the other launchers). The processes of the other ranks end with the code
  /// too, without returning from the call that they are in: each at its next check for lost peers, which a wait makes
  /// every 20 ms. A launcher ends ranks that make none, after a grace time. If several ranks leave with different
  /// codes, the first code that reaches the launcher counts. Only the low 8 bits of the code are visible outside.
  ///
  /// Prints what stdio has buffered. Exit handlers and destructors of static objects do not run, because other threads
  /// may be using what they destroy; a program that needs them calls `std::exit(code)`.
  /// Completion: the process ends within AQUEDUCT_EXIT_TIMEOUT, even if it cannot flush its output.
  /// Lifetime:   the Job must not be destroyed or moved before the call begins. After `finish`, and in a forked child,
  ///             the call only ends this process.
  /// Cost:       some 40 ms under aqrun, in which the other ranks notice.
  /// Threads:    any thread, with any locks held, also in a handler, and while other threads use the job. Not in a
  ///             signal handler: see `request_leave`.
  [[noreturn]] void leave(int code) noexcept;
  /// Asks this process to call `leave(code)`; returns at once. It does so at its next check for lost peers (20 ms in a
  /// wait; every 1024 calls of `progress`), in `finish`, when the Job is destroyed, and at `exit`. aqrun learns the
  /// code at once. A process that makes no check within twice AQUEDUCT_EXIT_TIMEOUT is killed by the system. After
  /// `finish`, and in a forked child, the call does nothing.
  ///
  /// Threads: async-signal-safe; any thread.
  void request_leave(int code) noexcept;

  /// How this job was started: "aqrun", "pmix" (mpirun, prterun, srun), "pmi1" (mpiexec.hydra), "alone" (no launcher)
  /// or "in-process".
  std::string_view launcher() const noexcept;
  const Config& config() const noexcept;

  struct Impl;
  explicit Job(std::unique_ptr<Impl> impl) noexcept;

 private:
  struct End {
    void operator()(Impl*) const noexcept;
  };
  std::unique_ptr<Impl, End> impl_;
};

}  // namespace aqueduct
