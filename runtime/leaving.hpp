#pragma once

#include "bootstrap/bootstrap.hpp"
#include "bootstrap/exit_limit.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <limits>
#include <optional>
#include <thread>

namespace aqueduct::runtime {

/// How this process ends when it, or another one, leaves the job with a code: docs/decisions/0064-leave.md.
///
/// The first code that this process has begun to end with stays; threads that come later wait until the process ends.
/// Nothing here takes a lock or looks at an endpoint, so it does not matter what the other threads are doing.
class Leaving {
 public:
  explicit Leaving(std::chrono::nanoseconds limit) noexcept : limit_(limit) {}

  /// Asks the process to leave at its next check for lost peers. The system kills it if there is none in time. Returns
  /// false, and does nothing, after an earlier request and after `close`.
  /// Async-signal-safe.
  bool request(int code) noexcept;
  std::optional<int> requested() const noexcept { return code_in(requested_); }
  /// The process is about to leave the job in good order: requests do nothing from here on, so no timer of theirs runs.
  /// Does not return if there was a request before, or if a thread has begun to end this process.
  void close(bootstrap::Bootstrap& tell) noexcept;
  /// Whether a thread has begun to end this process: nothing of the job may be destroyed any more.
  bool has_begun() const noexcept { return begun_ != kNone; }

  /// Tells the launcher, unless `tell` is null, flushes the standard C streams and ends this process with `code`.
  [[noreturn]] void end(int code, bootstrap::Bootstrap* tell) noexcept;
  /// The program has called exit(code), and goes on with its exit handlers when this returns. One that calls `end` ends
  /// the process there, because its thread would otherwise wait for itself.
  void at_exit(int code, bootstrap::Bootstrap& tell) noexcept;

 private:
  static constexpr std::int64_t kNone = std::numeric_limits<std::int64_t>::max();  // no int
  static constexpr std::int64_t kClosed = kNone - 1;                               // nor this
  static std::optional<int> code_in(std::int64_t value) noexcept {
    return value >= kClosed ? std::nullopt : std::optional(static_cast<int>(value));
  }
  void begin(int code) noexcept;
  [[noreturn]] void join_end(int code) noexcept;

  const bootstrap::ExitLimit limit_;
  std::atomic<std::int64_t> requested_{kNone};
  std::atomic<std::int64_t> begun_{kNone};
  std::atomic<std::thread::id> exiting_{};  ///< the thread that runs exit handlers after `at_exit`
};

}  // namespace aqueduct::runtime
