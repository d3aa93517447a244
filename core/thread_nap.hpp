#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>

namespace aqueduct::core {

/// The naps of a thread that looks now and then whether an endpoint's owner polls. While the owner sleeps there is nothing to
/// look for, so a nap that begins then lasts until the owner wakes. It ends at that moment: a longer fixed nap would leave an
/// owner that computes after its sleep without help for the rest of it.
///
/// Threads: one naps; one, the owner, tells when it sleeps; any stops.
class ThreadNap {
 public:
  enum class End {
    over,  ///< the time is over
    woke,  ///< the owner has slept, and is awake again
    stopped
  };
  /// Naps for `time`, or until a sleeping owner wakes.
  End take(std::chrono::nanoseconds time);

  /// Before and after a sleep of the owner.
  /// Cost: `false` wakes the other thread only if that naps until the owner wakes.
  void owner_sleeps(bool sleeps) noexcept;
  bool owner_is_awake() const noexcept { return !asleep_.load(std::memory_order_relaxed); }
  /// Whether a nap lasts until the owner wakes. For tests.
  bool awaits_owner() const noexcept { return awaits_owner_.load(std::memory_order_relaxed); }

  /// Ends this nap and all later ones.
  void stop();
  bool stopped() const noexcept { return stopped_.load(std::memory_order_relaxed); }

 private:
  // Each side writes its own flag first, and then reads the other's: one of them sees that both are set.
  std::atomic<bool> asleep_{false};
  std::atomic<bool> awaits_owner_{false};
  std::atomic<bool> stopped_{false};
  std::mutex mutex_;
  std::condition_variable wake_;
};

}  // namespace aqueduct::core
