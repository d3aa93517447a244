#include "core/wait.hpp"

#include "core/event_access.hpp"
#include "core/joint_sleep.hpp"

#include <algorithm>
#include <new>

namespace aqueduct {

namespace core {
namespace {

// Chosen: the interval at which peers are checked. Measured: eight idle ranks take
// about 2 % of one core with one conduit and 3 % with two, their start included.
constexpr std::chrono::nanoseconds kLongestNap{20'000'000};
constexpr std::chrono::nanoseconds kBriefNap{100'000};

}  // namespace

std::string describe_operation(const Op& op) {
  std::string text = op.kind->what;
  if (op.kind->describe != nullptr) op.kind->describe(op, text);
  if (op.peer != kNoRank) text += fmt::format(" with rank {}", op.peer);
  return text;
}

bool LongWait::look_around() noexcept {
  const auto now = state_.clock.now();
  if (began_ == Clock::time_point{}) {
    began_ = now;
    next_report_ = now + state_.pacing.stall_warn;
  }
  if (limit_ != std::chrono::nanoseconds::max() && now - began_ >= limit_) return false;
  if (now - state_.checked_peers > std::chrono::milliseconds(20)) check_peers(state_);
  if (state_.pacing.stall_warn.count() > 0 && now >= next_report_) report(now);
  return true;
}

void LongWait::report(Clock::time_point now) noexcept try {
  next_report_ = now + (now - began_);  // the next report when the wait has lasted twice as long
  ++state_.statistics.stalls;
  std::string text = describe_(what_);
  if (on_ < state_.ranks) {
    text += fmt::format("; rank {} is {} over {}", on_, state_.lost[on_] ? "lost" : "not known to be lost",
                        state_.conduit(on_).properties().name);
    if (const auto more = state_.conduit(on_).state_of(on_); !more.empty()) text += ": " + more;
  }
  for (const BuiltLayer& built : state_.layers) built.layer->describe(text, on_);
  text += fmt::format("; {} operations in flight", state_.ops.in_flight());
  for (const auto& [peer, count] : state_.ops.busiest()) text += fmt::format(", {} to rank {}", count, peer);
  state_.log.warn(
      "has waited {:.1f} s for {}. Is that rank alive and making progress? (reported after "
      "AQUEDUCT_STALL_WARN)",
      std::chrono::duration<double>(now - began_).count(), text);
} catch (const std::bad_alloc&) {
  state_.log.warn("has waited {:.1f} s, and there is no memory to say for what",
                  std::chrono::duration<double>(now - began_).count());
}

bool LongWait::sleep(bool (*done)(const void*), const void* what) noexcept {
  auto nap = nap_;
  nap_ = std::min(nap_ * 2, kLongestNap);
  if (limit_ != std::chrono::nanoseconds::max()) {
    nap = std::clamp<std::chrono::nanoseconds>(began_ + limit_ - state_.clock.now(),
                                               std::chrono::nanoseconds{1}, nap);
  }
  // Layers have queued work, which waits for room. A neighbour that makes room does not wake this rank, so the sleep is
  // short. An arrival from the network ends it.
  const bool busy = state_.busy != 0;
  if (busy) nap = std::min(nap, kBriefNap);
  JointSleep joint(busy ? nullptr : state_.near.get(), state_.far.get());
  if (!joint.arm()) {
    joint.nap(std::min(nap, kBriefNap));
    return false;
  }
  if (progress(state_) != 0) return false;
  if (done(what)) return true;
  if (!busy && state_.busy != 0) return false;
  ++state_.statistics.sleeps;
  joint.sleep(nap);
  return false;
}

Status wait_for(EndpointState& state, Event& event, std::chrono::nanoseconds limit) noexcept {
  if (event.done()) return event.status();
  const Op& op = *aqueduct::detail::EventAccess::operation(event);
  const Status status = wait_until(
      state, [&] { return event.done(); }, op.peer, [&] { return describe_operation(op); }, limit);
  return status ? event.status() : status;
}

Status wait_to_the_end(EndpointState& state, Event& event) noexcept {
  const bool inside = std::exchange(state.in_continuation, false);
  const Status status = wait_for(state, event, std::chrono::nanoseconds::max());
  state.in_continuation = inside;
  return status;
}

}  // namespace core
}  // namespace aqueduct
