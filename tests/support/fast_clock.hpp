#pragma once

#include "core/clock.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>

namespace aqueduct::support {

/// Goes on by a step at each look, so that a wait of seconds takes a moment.
struct FastClock {
  static core::Clock::time_point tell(const void* self) noexcept {
    const auto& clock = *static_cast<const FastClock*>(self);
    return core::Clock::time_point(std::chrono::hours(1) + ++clock.looks * clock.step);
  }
  core::EndpointClock clock() const noexcept { return {tell, this}; }
  std::chrono::milliseconds step;
  mutable std::atomic<std::int64_t> looks{0};
};

}  // namespace aqueduct::support
