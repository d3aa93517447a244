#include "core/thread_nap.hpp"

namespace aqueduct::core {

ThreadNap::End ThreadNap::take(std::chrono::nanoseconds time) {
  std::unique_lock lock(mutex_);
  awaits_owner_.store(true);
  const bool asleep = asleep_.load();
  if (asleep) wake_.wait(lock, [this] { return stopped() || !asleep_.load(); });
  awaits_owner_.store(false, std::memory_order_relaxed);
  if (!asleep) wake_.wait_for(lock, time, [this] { return stopped(); });
  if (stopped()) return End::stopped;
  return asleep ? End::woke : End::over;
}

void ThreadNap::owner_sleeps(bool sleeps) noexcept {
  if (sleeps) return asleep_.store(true, std::memory_order_relaxed);
  asleep_.store(false);
  if (!awaits_owner_.load()) return;
  { const std::lock_guard lock(mutex_); }  // the other thread has looked at `asleep_` before, or waits by now
  wake_.notify_all();
}

void ThreadNap::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopped_.store(true, std::memory_order_relaxed);
  }
  wake_.notify_all();
}

}  // namespace aqueduct::core
