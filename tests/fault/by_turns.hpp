#pragma once

#include <aqueduct/aqueduct.hpp>

#include <array>
#include <chrono>
#include <functional>
#include <string_view>

namespace aqueduct::fault {

/// Settings of a small job that uses only this conduit.
inline Config config_over(std::string_view conduit) {
  Config config = Config::from_variables({});
  static_cast<void>(config.set("segment_bytes", "64K"));
  static_cast<void>(config.set("conduit", conduit));
  if (conduit != "smp") static_cast<void>(config.set("near", "off"));
  return config;
}

/// Makes progress for both ranks of a job in turn, on this thread, because the creation of threads may be refused.
inline Status done_by_turns(Job& job, Event event) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(5);
  while (!event.done()) {
    if (std::chrono::steady_clock::now() > until) return ErrorCode::timed_out;
    for (std::size_t i = 0; i < job.endpoints(); ++i) job.endpoint(i).progress();
  }
  return event.status();
}

/// Starts a job of two ranks, runs `meanwhile`, moves bytes both ways, sleeps
/// once, and finishes. Returns the first error.
inline Status live(
    const Config& config, const std::function<void(Job&)>& meanwhile = [](Job&) {}) {
  auto job = Job::in_process(2, config);
  if (!job) return job.status();
  meanwhile(*job);
  std::array<int, 500> sent{};
  sent.fill(42);
  std::array<int, 500> got{};
  for (Rank rank = 0; rank < 2; ++rank) {
    Endpoint& me = job->endpoint(rank);
    const GlobalPtr<int> there{1 - rank, 64};
    if (const Status status = done_by_turns(*job, put_nb(me, there, sent)); !status) return status;
    if (const Status status = done_by_turns(*job, get_nb(me, got, there)); !status) return status;
    if (got != sent) return ErrorCode::internal;
    if (const Status status = done_by_turns(*job, signal_nb(me, 1 - rank, {0, 1})); !status) return status;
  }
  const Status never = wait_until(job->endpoint(0), 1, 1, kAnyRank, std::chrono::milliseconds(5));
  if (never.code() != ErrorCode::timed_out) return never ? Status(ErrorCode::internal) : never;
  return job->finish();
}

}  // namespace aqueduct::fault
