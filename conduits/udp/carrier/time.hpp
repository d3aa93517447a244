#pragma once

#include "core/clock.hpp"

#include <cstdint>

namespace aqueduct::conduits::udp {

/// A point in time or a duration, in nanoseconds. The protocol never reads a clock: callers pass in the time, so its
/// tests run in virtual time.
using Time = std::int64_t;

inline constexpr Time kNever = INT64_MAX;
inline constexpr Time kMicrosecond = 1'000;
inline constexpr Time kMillisecond = 1'000'000;
inline constexpr Time kSecond = 1'000'000'000;

/// What the clock says now, as a Time.
inline Time time_of(const core::EndpointClock& clock) noexcept {
  return static_cast<Time>(clock.nanoseconds());
}

}  // namespace aqueduct::conduits::udp
