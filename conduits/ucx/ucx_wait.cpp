#include "conduits/ucx/ucx_conduit.hpp"

#include <algorithm>
#include <system_error>

#include <poll.h>
#include <time.h>

namespace aqueduct::conduits::ucx {
namespace {

// Chosen: rounds of progress that the thread makes before it lets the owner in again.
constexpr int kRounds = 64;
// Chosen: how long to sleep at a time while a lost peer's last operations are awaited, of which nothing may arrive.
constexpr std::chrono::nanoseconds kLeavingNap{10'000'000};

}  // namespace

// UCX refuses to be armed while it has work. The poll that follows does some of it, and the sleep then must not begin.
// While the owner is about to sleep, or sleeps, the progress thread touches nothing: whatever it did would not wake the
// owner. What it did before, the poll that follows `arm` finds.
void UcxConduit::arm() noexcept {
  if (thread_) thread_->owner_sleeps(true);
  const Entry entry(lock_);
  ready_ = !worker_.arm();
}

void UcxConduit::disarm() noexcept {
  if (thread_) thread_->owner_sleeps(false);
}

std::chrono::nanoseconds UcxConduit::within() const noexcept {
  const Entry entry(lock_);
  const bool has_work = ready_ || !delivery_.empty() || operations_.has_ended() || !flushes_.is_idle() ||
                        put_messages_.owes_answers() || messages_.owes_aside_answers() ||
                        peers_.has_condemned();
  if (has_work) return std::chrono::nanoseconds::zero();
  return !lost_.is_waiting() ? std::chrono::nanoseconds::max() : kLeavingNap;
}

void UcxConduit::sleep(std::chrono::nanoseconds limit) noexcept {
  limit = std::min(limit, within());
  if (limit.count() <= 0) return;
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(limit);
  const timespec time{seconds.count(), (limit - seconds).count()};
  pollfd readable{worker_.descriptor(), POLLIN, 0};
  ::ppoll(&readable, 1, &time, nullptr);
}

Status UcxConduit::start_thread() {
  const std::chrono::nanoseconds patience(process_.config->nanoseconds("ucx_progress"));
  if (patience.count() <= 0) return {};
  try {
    thread_.emplace("aqueduct-ucx", patience, worker_.descriptor(),
                    [this](const core::ProgressThread& thread) { return stand_in(thread); });
  } catch (const std::system_error& problem) {
    log_.error(
        "ucx: the system gives no thread for AQUEDUCT_UCX_PROGRESS ({}); 0 does without, but then peers wait "
        "for a rank "
        "that computes wherever the network cannot reach its memory by itself",
        problem.what());
    return {ErrorCode::no_memory, me_};
  }
  lock_.share(true);
  return {};
}

/// On the progress thread: what a poll does, but that what is for the layers above is kept for the owner.
std::chrono::nanoseconds UcxConduit::stand_in(const core::ProgressThread& thread) noexcept {
  const std::lock_guard lock(lock_.mutex());
  if (!thread.owner_is_awake()) return std::chrono::nanoseconds::max();
  flushes_.begin();
  for (int round = 0; round < kRounds; ++round) {
    if (worker_.progress() == 0) break;
  }
  if (put_messages_.owes_answers()) put_messages_.send_answers();
  if (messages_.owes_aside_answers()) messages_.send_aside_answers();
  return worker_.arm() ? std::chrono::nanoseconds::max() : std::chrono::nanoseconds::zero();
}

}  // namespace aqueduct::conduits::ucx
