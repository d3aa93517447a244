#pragma once

#include "core/clock.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>

namespace aqueduct::support {

/// A clock that stands still until a test moves it on, and in the end lets it run. It must outlive what reads it.
class ManualClock {
 public:
  ManualClock() = default;
  ManualClock(const ManualClock&) = delete;
  ManualClock& operator=(const ManualClock&) = delete;

  core::EndpointClock clock() const noexcept { return {tell, this}; }
  void move_on(std::chrono::nanoseconds by) noexcept { since_epoch_.fetch_add(by.count()); }
  /// From now on the clock goes on by itself, so that conduits can end: they may wait for something, with a limit.
  void let_run() noexcept { runs_since_.store(real_time()); }

 private:
  static std::int64_t real_time() noexcept {
    return std::chrono::nanoseconds(core::Clock::now().time_since_epoch()).count();
  }
  static core::Clock::time_point tell(const void* self) noexcept {
    const auto& clock = *static_cast<const ManualClock*>(self);
    const std::int64_t runs_since = clock.runs_since_.load();
    const std::int64_t run = runs_since == 0 ? 0 : real_time() - runs_since;
    return core::Clock::time_point(std::chrono::nanoseconds(clock.since_epoch_.load() + run));
  }

  std::atomic<std::int64_t> runs_since_{0};  // in real time; 0: the clock stands still
  std::atomic<std::int64_t> since_epoch_{
      3'600'000'000'000};  // chosen: an hour, since the epoch itself may mean "not yet"
};

}  // namespace aqueduct::support
