#pragma once

#include <chrono>
#include <cstdint>

namespace aqueduct::core {

/// The type of times and durations in the whole library.
using Clock = std::chrono::steady_clock;

/// The clock of an endpoint. Its waits, timers and backoffs, and those of its conduits, read this clock and no other,
/// so that time can be simulated. By default it is the system's steady clock; otherwise `tell(teller)` returns the
/// time. Copies read the same clock.
///
/// Sleeps are not simulated: the system counts them in real time (ppoll, nanosleep, futexes, condition variables). Each
/// is short, and the clock is read after it.
///
/// Requires: `tell` never goes back, and returns times after the epoch, because the epoch often means "not yet". Its
///           time must advance while a rank waits or a conduit ends: both have time limits by this clock.
/// Threads:  several threads call `tell` at once: those of a process's endpoints, and the progress threads of its
///           conduits.
class EndpointClock {
 public:
  using Tell = Clock::time_point (*)(const void* teller) noexcept;

  constexpr EndpointClock() noexcept = default;
  constexpr EndpointClock(Tell tell, const void* teller) noexcept : tell_(tell), teller_(teller) {}

  Clock::time_point now() const noexcept { return tell_ == nullptr ? Clock::now() : tell_(teller_); }
  /// The time as a number, for differences only: the beginning of the count is arbitrary.
  std::uint64_t nanoseconds() const noexcept {
    const auto since = now().time_since_epoch();
    return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(since).count());
  }

 private:
  Tell tell_ = nullptr;
  const void* teller_ = nullptr;
};

inline constexpr EndpointClock kSystemClock;

}  // namespace aqueduct::core
