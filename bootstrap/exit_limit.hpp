#pragma once

#include <chrono>

#include <time.h>

namespace aqueduct::bootstrap {

/// Bounds the time that a process takes to end, whatever its threads are waiting for. Both ways are armed at most once
/// and never disarmed, except by the destructor.
class ExitLimit {
 public:
  explicit ExitLimit(std::chrono::nanoseconds limit) noexcept;
  ~ExitLimit();
  ExitLimit(const ExitLimit&) = delete;
  ExitLimit& operator=(const ExitLimit&) = delete;

  /// The process ends with `code` after the limit: by a thread, or if there can be none, as `kill_later`.
  void end_later(int code) const noexcept;
  /// The system kills the process (SIGKILL) after twice the limit. Does nothing if the system had no timer to give.
  /// Async-signal-safe.
  void kill_later() const noexcept;
  /// Waits for the limit, then ends the process with `code`: for threads that must not go on while another ends it.
  [[noreturn]] void wait_and_end(int code) const noexcept;

 private:
  const std::chrono::nanoseconds limit_;
  timer_t timer_{};
  bool has_timer_ = false;
};

}  // namespace aqueduct::bootstrap
