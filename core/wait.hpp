#pragma once

#include "core/endpoint_state.hpp"

#include <chrono>
#include <string>
#include <type_traits>

namespace aqueduct::core {

/// The slow side of a wait that has given up the core: looks after peers, reports a stall, sleeps.
class LongWait {
 public:
  /// `describe(what)` names what is waited for, `on` the peer if there is one: for the stall report.
  LongWait(EndpointState& state, Rank on, std::chrono::nanoseconds limit,
           std::string (*describe)(const void*), const void* what) noexcept
      : state_(state), on_(on), limit_(limit), describe_(describe), what_(what) {}

  /// Between two yields and around each sleep. False: the limit has passed.
  bool look_around() noexcept;
  /// Sleeps until something arrives; true, at once, if `done(what)` by then.
  bool sleep(bool (*done)(const void*), const void* what) noexcept;

 private:
  void report(Clock::time_point now) noexcept;

  EndpointState& state_;
  Rank on_;
  std::chrono::nanoseconds limit_;
  std::string (*describe_)(const void*);
  const void* what_;
  Clock::time_point began_{};
  Clock::time_point next_report_{};
  std::chrono::nanoseconds nap_{1'000'000};
};

/// Waits, making progress, until `done()`, which may do something when it succeeds: once it was true it is not
/// called again.
///
/// Errors: in_handler, timed_out, invalid_argument in a forked child. The loss of a peer must make `done()` true.
template <class Done, class Describe>
Status wait_until(EndpointState& state, const Done& done, Rank on, const Describe& describe,
                  std::chrono::nanoseconds limit = std::chrono::nanoseconds::max()) noexcept {
  if (state.in_child()) [[unlikely]]
    return ErrorCode::invalid_argument;
  if (done()) return {};
  if (state.polling) return ErrorCode::in_handler;
  const auto text = [](const void* what) { return (*static_cast<const Describe*>(what))(); };
  const auto over = [](const void* what) { return (*static_cast<const Done*>(what))(); };
  LongWait longer(state, on, limit, text, &describe);
  Backoff backoff(state.pacing, state.clock);
  std::uint32_t arrivals = 0;
  for (;;) {
    const int found = progress(state);
    if (done()) return {};
    if (found > 0) {
      // Other traffic must hide neither a stall nor a limit.
      if (++arrivals % 1024 == 0 && !longer.look_around()) return ErrorCode::timed_out;
      backoff.restart();
      continue;
    }
    const Backoff::Step step = backoff.next();
    if (step == Backoff::Step::again) continue;
    if (!longer.look_around()) return ErrorCode::timed_out;
    if (step == Backoff::Step::sleep && longer.sleep(over, &done)) return {};
  }
}

}  // namespace aqueduct::core
