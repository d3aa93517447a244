#include "conduits/ucx/sleeper.hpp"

#include <algorithm>

#include <poll.h>
#include <time.h>

namespace aqueduct::conduits::ucx {
namespace {

// Chosen: the longest sleep while operations on a lost peer are outstanding, whose end may not wake the sleeper.
constexpr std::chrono::nanoseconds kLostPeerNap{10'000'000};

}  // namespace

// UCX refuses to be armed while it has work. The poll that follows does some of that work, and then the sleep must not begin.
// From before the arming to the end of the sleep the progress thread does nothing, because its progress would not wake the
// owner. The poll that follows `arm` finds what the thread did before.
void Sleeper::arm() noexcept {
  if (thread_) thread_->owner_sleeps(true);
  const Entry entry(lock_);
  put_messages_.hurry();  // no polls are counted while this rank sleeps
  if (put_messages_.owes_answers()) put_messages_.send_answers();
  ready_ = !worker_.arm();
}

void Sleeper::disarm() noexcept {
  if (thread_) thread_->owner_sleeps(false);
}

std::chrono::nanoseconds Sleeper::within() const noexcept {
  const Entry entry(lock_);
  const bool has_work = ready_ || !delivery_.empty() || operations_.has_ended() || !flushes_.is_idle() ||
                        put_messages_.owes_answers() || messages_.owes_aside_answers() || peers_.has_failed();
  if (has_work) return std::chrono::nanoseconds::zero();
  return !lost_.is_waiting() ? std::chrono::nanoseconds::max() : kLostPeerNap;
}

void Sleeper::sleep(std::chrono::nanoseconds limit) noexcept {
  limit = std::min(limit, within());
  if (limit.count() <= 0) return;
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(limit);
  const timespec time{seconds.count(), (limit - seconds).count()};
  pollfd readable{worker_.descriptor(), POLLIN, 0};
  ::ppoll(&readable, 1, &time, nullptr);
}

}  // namespace aqueduct::conduits::ucx
