#include "core/entry.hpp"

#include <utility>

namespace aqueduct {

namespace core {
namespace {

// Nothing arrives in a forked child. Operations end here, so that a loop that polls until one is done ends too.
[[gnu::cold]] int end_all(EndpointState& state) noexcept {
  state.ops.end_all(ErrorCode::invalid_argument);
  state.groups.end_all(ErrorCode::invalid_argument);
  return 0;
}

}  // namespace

namespace {

/// Lets the layers with queued work go on. Returns how many things happened that waits should know of.
[[gnu::noinline]] int advance(EndpointState& state) noexcept {
  const std::uint64_t moves = state.moves;
  for (const BuiltLayer& built : state.layers) built.layer->advance();
  // A layer that goes on because memory has changed: no packet shows it, but waits should not fall asleep.
  int found = state.moves != moves ? 1 : 0;
  state.polling = false;
  found += state.continuations.run();
  found += state.handlers.run();
  if (state.guard.has_followers()) state.guard.changed();
  return found;
}

}  // namespace

int progress(EndpointState& state) noexcept {
  if (state.polling) [[unlikely]]
    return state.in_child() ? end_all(state) : 0;  // another thread may have been polling at the fork
  if (state.in_child()) [[unlikely]]
    return end_all(state);
  state.polling = true;
  int found = state.stand_in != nullptr ? state.stand_in->deliver() : 0;
  if (state.near != nullptr) found += state.near->poll(*state.inbox);
  if (state.far != nullptr) found += state.far->poll(*state.inbox);
  if ((state.busy | state.watching) != 0) [[unlikely]]
    found += advance(state);
  state.polling = false;
  if (found != 0) {
    state.arrivals += static_cast<std::uint64_t>(found);
    if (state.guard.has_followers()) [[unlikely]]
      state.guard.changed();
  }
  // A program that never waits but only polls must learn of lost peers too, also if each of its polls takes long.
  const std::uint32_t polls = state.polls.load(std::memory_order_relaxed) + 1;
  state.polls.store(polls, std::memory_order_relaxed);
  if ((polls & 0x3ff) == 0) [[unlikely]]
    check_peers(state);
  return found;
}

void check_peers(EndpointState& state) noexcept {
  const auto now = state.clock.now();
  if (now - state.checked_peers < std::chrono::milliseconds(20)) return;
  state.checked_peers = now;
  // A conduit may deliver a lost peer's last packets here, and handlers then run as in progress.
  const bool polling = std::exchange(state.polling, true);
  if (state.stand_in != nullptr) static_cast<void>(state.stand_in->deliver());
  if (state.near != nullptr) state.near->check_peers(*state.inbox);
  if (state.far != nullptr) state.far->check_peers(*state.inbox);
  if (state.poll_losses) state.poll_losses();
  state.polling = polling;
}

}  // namespace core

namespace {

// Out of line: an Entry would make the caller save registers that it needs for nothing else.
[[gnu::noinline]] int progress_guarded(detail::EndpointState& state) noexcept {
  core::Entry entry(state);
  return core::progress(state);
}

}  // namespace

int Endpoint::progress() noexcept {
  if (state_->guard.guards()) [[unlikely]]
    return progress_guarded(*state_);
  return core::progress(*state_);
}

}  // namespace aqueduct
