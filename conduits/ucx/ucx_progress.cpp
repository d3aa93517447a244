#include "conduits/ucx/ucx_conduit.hpp"

#include <system_error>

namespace aqueduct::conduits::ucx {
namespace {

// Chosen: rounds of progress that the thread makes before it gives the lock back.
constexpr int kRounds = 64;

}  // namespace

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
  sleeper_.pauses(*thread_);
  lock_.share(true);
  return {};
}

/// On the progress thread: does what a poll does, except that all calls to the layers above wait for the owner's poll.
std::chrono::nanoseconds UcxConduit::stand_in(const core::ProgressThread& thread) noexcept {
  const std::lock_guard lock(lock_.mutex());
  if (!thread.owner_is_awake()) return std::chrono::nanoseconds::max();
  flushes_.begin();
  for (int round = 0; round < kRounds; ++round) {
    if (worker_.progress() == 0) break;
  }
  put_messages_.hurry();  // the owner's polls do not count late answers now
  if (put_messages_.owes_answers()) put_messages_.send_answers();
  if (messages_.owes_aside_answers()) messages_.send_aside_answers();
  return worker_.arm() ? std::chrono::nanoseconds::max() : std::chrono::nanoseconds::zero();
}

}  // namespace aqueduct::conduits::ucx
