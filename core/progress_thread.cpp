#include "core/progress_thread.hpp"

#include "core/quiet_thread.hpp"

#include <algorithm>

#include <poll.h>

namespace aqueduct::core {
namespace {

// The longest wait while this thread stands in for the owner. The owner may be back, with nothing left to arrive.
constexpr std::chrono::nanoseconds kLongestWait{20'000'000};

}  // namespace

ProgressThread::ProgressThread(const char* name, std::chrono::nanoseconds patience, int descriptor, Turn turn)
    : patience_(patience),
      descriptor_(descriptor),
      turn_(std::move(turn)),
      thread_(start_quiet_thread(name, [this] { run(); })) {}

ProgressThread::~ProgressThread() {
  nap_.stop();
  thread_.join();
}

bool ProgressThread::owner_is_away(std::uint64_t seen) const noexcept {
  return polls_.load(std::memory_order_relaxed) == seen && owner_is_awake() && !nap_.stopped();
}

void ProgressThread::run() {
  std::uint64_t seen = 0;
  for (;;) {
    const ThreadNap::End end = nap_.take(patience_);
    if (end == ThreadNap::End::stopped) return;
    const std::uint64_t now = polls_.load(std::memory_order_relaxed);
    // An owner that has just woken has not polled since this thread last looked. It gets its time.
    if (now == seen && end == ThreadNap::End::over) stand_in(seen);
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
