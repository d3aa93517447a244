#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>

namespace aqueduct::core {

/// Looks after an endpoint whose owner does not: peers get their acknowledgements, puts land and gets are answered
/// while the owner computes. Costs a look at a counter every `patience` while the owner polls.
class ProgressThread {
 public:
  /// Makes one round of progress, unless the owner sleeps by now, and returns how long from then it can do without the
  /// next though nothing arrives.
  using Turn = std::function<std::chrono::nanoseconds(const ProgressThread&)>;

  /// `turn` is called on this thread, which is called `name` (15 characters at the most).
  /// `descriptor` becomes readable when there is something to do.
  ProgressThread(const char* name, std::chrono::nanoseconds patience, int descriptor, Turn turn);
  ~ProgressThread();
  ProgressThread(const ProgressThread&) = delete;
  ProgressThread& operator=(const ProgressThread&) = delete;

  /// From the owner, at each poll.
  void owner_polls() noexcept {
    polls_.store(polls_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
  /// From the owner, around its sleep: it will wake by itself.
  void owner_sleeps(bool sleeps) noexcept { asleep_.store(sleeps, std::memory_order_relaxed); }
  bool owner_is_awake() const noexcept { return !asleep_.load(std::memory_order_relaxed); }

 private:
  void run();
  bool owner_is_away(std::uint64_t seen) const noexcept;
  void stand_in(std::uint64_t seen);

  const std::chrono::nanoseconds patience_;
  const int descriptor_;
  const Turn turn_;
  std::atomic<std::uint64_t> polls_{0};  // written by the owner alone
  std::atomic<bool> asleep_{false};
  std::atomic<bool> stop_{false};
  std::mutex mutex_;
  std::condition_variable wake_;
  std::thread thread_;
};

}  // namespace aqueduct::core
