#pragma once

#include "core/thread_nap.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <thread>

namespace aqueduct::core {

/// A thread that makes progress for a conduit while the endpoint's owner computes: peers get their acknowledgements,
/// puts arrive and gets are answered. While the owner polls, the thread only wakes every `patience` to read a counter, and
/// while the owner sleeps it sleeps too. So it begins at most twice `patience` after the owner's last poll or sleep.
///
/// The thread reads no clock. It waits in real time, for `patience` or for as long as `turn` returns, because the owner
/// computes in real time.
class ProgressThread {
 public:
  /// Makes one round of progress, unless the owner has fallen asleep. Returns how long the thread may wait for the next
  /// round if nothing arrives.
  using Turn = std::function<std::chrono::nanoseconds(const ProgressThread&)>;

  /// Starts the thread; `name` has at most 15 characters. The thread
  /// calls `turn`. `descriptor` becomes readable when something arrives.
  ProgressThread(const char* name, std::chrono::nanoseconds patience, int descriptor, Turn turn);
  ~ProgressThread();
  ProgressThread(const ProgressThread&) = delete;
  ProgressThread& operator=(const ProgressThread&) = delete;

  /// The owner calls this at each poll.
  void owner_polls() noexcept {
    polls_.store(polls_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
  /// The owner calls this before and after a sleep. Arrivals end its sleep, so it needs no help meanwhile.
  void owner_sleeps(bool sleeps) noexcept { nap_.owner_sleeps(sleeps); }
  bool owner_is_awake() const noexcept { return nap_.owner_is_awake(); }

 private:
  void run();
  bool owner_is_away(std::uint64_t seen) const noexcept;
  void stand_in(std::uint64_t seen);

  const std::chrono::nanoseconds patience_;
  const int descriptor_;
  const Turn turn_;
  std::atomic<std::uint64_t> polls_{0};  // written by the owner alone
  ThreadNap nap_;
  std::thread thread_;
};

}  // namespace aqueduct::core
