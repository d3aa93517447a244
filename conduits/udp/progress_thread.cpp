#include "conduits/udp/progress_thread.hpp"

#include <algorithm>

#include <poll.h>
#include <pthread.h>

namespace aqueduct::conduits::udp {
namespace {

// While the owner sleeps it looks after itself: this thread only has to notice when that ends.
constexpr int kAsleepFactor = 10;
// The longest wait while it stands in for the owner, who may come back and find everything done.
constexpr Time kLongestWait = 20 * kMillisecond;

}  // namespace

ProgressThread::ProgressThread(Time patience, int descriptor, Turn turn)
    : patience_(patience), descriptor_(descriptor), turn_(std::move(turn)), thread_([this] { run(); }) {
  ::pthread_setname_np(thread_.native_handle(), "aqueduct-udp");
}

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
      const Time nap = asleep_.load(std::memory_order_relaxed) ? patience_ * kAsleepFactor : patience_;
      wake_.wait_for(lock, std::chrono::nanoseconds(nap),
                     [this] { return stop_.load(std::memory_order_relaxed); });
      if (stop_.load(std::memory_order_relaxed)) return;
    }
    const std::uint64_t now = polls_.load(std::memory_order_relaxed);
    if (now == seen) stand_in(seen);
    seen = now;
  }
}

void ProgressThread::stand_in(std::uint64_t seen) {
  while (owner_is_away(seen)) {
    const Time next = turn_(*this);
    const Time wait = std::clamp<Time>(next == kNever ? kLongestWait : next - clock_now(), 0, kLongestWait);
    const timespec limit{0, static_cast<long>(wait)};
    pollfd readable{descriptor_, POLLIN, 0};
    ::ppoll(&readable, 1, &limit, nullptr);
  }
}

}  // namespace aqueduct::conduits::udp
