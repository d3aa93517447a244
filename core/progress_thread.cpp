#include "core/progress_thread.hpp"

#include "core/quiet_thread.hpp"

#include <algorithm>

#include <poll.h>

namespace aqueduct::core {
namespace {

// While the owner sleeps, arrivals wake it, so this thread
// checks less often: it only has to notice the end of the sleep.
constexpr int kAsleepFactor = 10;
// The longest wait while this thread stands in for the owner. The owner may be back, with nothing left to arrive.
constexpr std::chrono::nanoseconds kLongestWait{20'000'000};

}  // namespace

ProgressThread::ProgressThread(const char* name, std::chrono::nanoseconds patience, int descriptor, Turn turn)
    : patience_(patience),
      descriptor_(descriptor),
      turn_(std::move(turn)),
      thread_(start_quiet_thread(name, [this] { run(); })) {}

ProgressThread::~ProgressThread() {
  {
    const std::lock_guard lock(mutex_);
    stop_.store(true, std::memory_order_relaxed);
  }
  wake_.notify_all();
  thread_.join();
}

bool ProgressThread::owner_is_away(std::uint64_t seen) const noexcept {
  return polls_.load(std::memory_order_relaxed) == seen && !asleep_.load(std::memory_order_relaxed) &&
         !stop_.load(std::memory_order_relaxed);
}

void ProgressThread::run() {
  std::uint64_t seen = 0;
  for (;;) {
    {
      std::unique_lock lock(mutex_);
      const auto nap = asleep_.load(std::memory_order_relaxed) ? patience_ * kAsleepFactor : patience_;
      wake_.wait_for(lock, nap, [this] { return stop_.load(std::memory_order_relaxed); });
      if (stop_.load(std::memory_order_relaxed)) return;
    }
    const std::uint64_t now = polls_.load(std::memory_order_relaxed);
    if (now == seen) stand_in(seen);
    seen = now;
  }
}

void ProgressThread::stand_in(std::uint64_t seen) {
  while (owner_is_away(seen)) {
    const auto wait = std::clamp(turn_(*this), std::chrono::nanoseconds::zero(), kLongestWait);
    const timespec limit{0, static_cast<long>(wait.count())};
    pollfd readable{descriptor_, POLLIN, 0};
    ::ppoll(&readable, 1, &limit, nullptr);
  }
}

}  // namespace aqueduct::core
