#pragma once

#include <aqueduct/config.hpp>
#include <aqueduct/endpoint.hpp>

#include <cstddef>
#include <functional>
#include <memory>
#include <string_view>

namespace aqueduct {

/// All ranks of one program, and this process's endpoints among them.
///
/// Lifetime: ends by `finish()`. A Job destroyed without it leaves abruptly: peer_lost for the others.
/// Processes: belongs to the process that started it. A forked child's copy does nothing, not even when it is destroyed.
class Job {
 public:
  /// Joins the job that a launcher (aqrun, or mpirun, srun, … through PMIx or PMI-1) started this process for; without a
  /// launcher, a job of this process alone. AQUEDUCT_ENDPOINTS says how many ranks this process holds (default 1).
  /// A process joins its launcher's job once; where that serves PMIx, all its processes may have several Jobs at a time.
  ///
  /// Completion: when it returns, every rank has an address and the primary segment; connections are made at
  ///             first use.
  /// Errors:     bad_setting, bootstrap_failed, timed_out (AQUEDUCT_BOOTSTRAP_TIMEOUT), version_mismatch,
  ///             not_supported (no conduit can serve this job), network_failed, no_memory, no_space,
  ///             peer_lost. The reason is logged where it was found.
  static Result<Job> start(const Config& config = Config::from_environment());
  /// A job of `ranks` ranks, all in this process, whatever the launcher.
  ///
  /// Errors: as start, and invalid_argument (no ranks, or more than 1024).
  static Result<Job> in_process(Rank ranks, const Config& config = Config::from_environment());

  Job(Job&&) noexcept;
  Job& operator=(Job&&) noexcept;
  ~Job();

  Rank ranks() const noexcept;
  /// How many endpoints (ranks) this process holds.
  std::size_t endpoints() const noexcept;
  /// This process's `index`-th endpoint. Requires: index < endpoints().
  Endpoint& endpoint(std::size_t index = 0) noexcept;

  /// Runs `body` once for each endpoint of this process, each on a thread of its own; returns when all have.
  void run_each(const std::function<void(Endpoint&)>& body);

  /// Ends the job: collective. Waits for all ranks, then closes everything.
  ///
  /// Lifetime: Events in flight and prepared payloads end before it; nothing of an endpoint is used afterwards.
  ///
  /// Errors: peer_lost if a rank died before; everything is closed all the same. invalid_argument in a forked child.
  Status finish();
  /// Tells the launcher that the job has failed, with a reason for people: it ends all ranks. Without a
  /// launcher it does nothing.
  void abort(int exit_code, std::string_view why) noexcept;

  /// What started this job: "aqrun", "pmix" (mpirun, prterun, srun), "pmi1" (mpiexec.hydra), "alone" (no launcher) or
  /// "in-process".
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
