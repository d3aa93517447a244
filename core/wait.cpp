#include "core/wait.hpp"

#include <algorithm>

#include <time.h>

namespace aqueduct::core {
namespace {

// Chosen: a job that sleeps looks up this often at the most, to see whether its peers still live.
constexpr std::chrono::nanoseconds kLongestNap{50'000'000};

/// What this endpoint can sleep on. With two conduits there is none: it naps, briefly.
Waitable* sleeper(EndpointState& state) noexcept {
  if (state.far == nullptr) return state.near->waitable();
  if (state.near == nullptr) return state.far->waitable();
  return nullptr;
}

}  // namespace

bool LongWait::look_around() noexcept {
  const auto now = Clock::now();
  if (began_ == Clock::time_point{}) {
    began_ = now;
    next_report_ = now + state_.pacing.stall_warn;
  }
  if (limit_ != std::chrono::nanoseconds::max() && now - began_ >= limit_) return false;
  if (now - state_.checked_peers > std::chrono::milliseconds(20)) check_peers(state_);
  if (state_.pacing.stall_warn.count() > 0 && now >= next_report_) report(now);
  return true;
}

void LongWait::report(Clock::time_point now) noexcept {
  next_report_ = now + (now - began_);  // again when it has lasted twice as long
  ++state_.statistics.stalls;
  std::string text = describe_(what_);
  if (on_ < state_.ranks) {
    text += fmt::format("; rank {} is {} over {}", on_, state_.lost[on_] ? "lost" : "not known to be lost",
                        state_.conduit(on_).properties().name);
    if (const auto more = state_.conduit(on_).state_of(on_); !more.empty()) text += ": " + more;
  }
  for (const Layer* layer : state_.layers) layer->describe(text, on_);
  text += fmt::format("; {} operations in flight", state_.ops.in_flight());
  for (const auto& [peer, count] : state_.ops.busiest()) text += fmt::format(", {} to rank {}", count, peer);
  state_.log.warn(
      "has waited {:.1f} s for {}. Is that rank alive and making progress? (reported after "
      "AQUEDUCT_STALL_WARN)",
      std::chrono::duration<double>(now - began_).count(), text);
}

void LongWait::sleep(bool (*done)(const void*), const void* what) noexcept {
  auto nap = nap_;
  nap_ = std::min(nap_ * 2, kLongestNap);
  if (limit_ != std::chrono::nanoseconds::max()) {
    nap = std::clamp<std::chrono::nanoseconds>(began_ + limit_ - Clock::now(), std::chrono::nanoseconds{1},
                                               nap);
  }
  Waitable* on = sleeper(state_);
  if (on == nullptr) {
    const timespec brief{0, std::min<long>(static_cast<long>(nap.count()), 200'000)};
    ::nanosleep(&brief, nullptr);
    return;
  }
  on->arm();
  if (progress(state_) == 0 && !done(what) && state_.busy == 0) {
    ++state_.statistics.sleeps;
    on->sleep(nap);
  }
  on->disarm();
}

}  // namespace aqueduct::core
