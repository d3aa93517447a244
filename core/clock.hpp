#pragma once

#include <chrono>
#include <cstdint>

namespace aqueduct::core {

/// Points in time and spans of it, as the whole library counts them.
using Clock = std::chrono::steady_clock;

/// What time it is for an endpoint: its waits, timers and backoffs read this and nothing else. The system's steady clock,
/// or, where time is simulated, whatever `tell` says. Copies tell the same time.
class EndpointClock {
 public:
  using Tell = Clock::time_point (*)(const void* teller) noexcept;

  constexpr EndpointClock() noexcept = default;
  constexpr EndpointClock(Tell tell, const void* teller) noexcept : tell_(tell), teller_(teller) {}

  Clock::time_point now() const noexcept { return tell_ == nullptr ? Clock::now() : tell_(teller_); }
  /// For what is compared with itself only: the beginning of the count is nobody's.
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
