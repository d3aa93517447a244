#pragma once

#include <chrono>

namespace aqueduct::perf {

/// How long nothing has arrived. Reads the clock rarely, so that looks for arrivals stay cheap.
class Silence {
 public:
  using Clock = std::chrono::steady_clock;

  /// To be called when something arrives.
  void end() noexcept { began_ = last_step_ = Clock::time_point{}; }
  /// To be called after each look that found nothing. True about once every `step`.
  bool lasts_another(std::chrono::nanoseconds step) noexcept {
    if (++looks_ % 64 != 0) return false;
    const auto now = Clock::now();
    if (began_ == Clock::time_point{}) began_ = last_step_ = now;
    if (now - last_step_ < step) return false;
    last_step_ = now;
    return true;
  }
  /// At the time of the last step.
  std::chrono::nanoseconds length() const noexcept { return last_step_ - began_; }

 private:
  unsigned looks_ = 0;
  Clock::time_point began_{};
  Clock::time_point last_step_{};
};

}  // namespace aqueduct::perf
