#pragma once

#include <chrono>
#include <cstdint>

namespace aqueduct::conduits::udp {

/// A point in time or a duration, in nanoseconds. The protocol never reads a clock: callers pass in the time, so its
/// tests run in virtual time.
using Time = std::int64_t;

inline constexpr Time kNever = INT64_MAX;
inline constexpr Time kMicrosecond = 1'000;
inline constexpr Time kMillisecond = 1'000'000;
inline constexpr Time kSecond = 1'000'000'000;

/// The machine's monotonic clock.
inline Time clock_now() noexcept {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

}  // namespace aqueduct::conduits::udp
