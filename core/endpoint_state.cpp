#include "core/endpoint_state.hpp"

#include <aqueduct/team.hpp>

#include <algorithm>

#include <sched.h>

namespace aqueduct::detail {

EndpointState::EndpointState(Rank my_rank, Rank all, const Config& settings)
    : rank(my_rank),
      ranks(all),
      config(settings),
      log(settings, my_rank),
      conduit_of(all),
      host_of(all),
      lost(all),
      ops(static_cast<std::uint32_t>(settings.number("operations"))),
      segments(all, static_cast<std::uint32_t>(settings.number("segments"))) {
  implicit.pool = &ops;
  implicit.parts = 1;  // stays: the group never ends
  pacing.spin_at_most = std::chrono::nanoseconds(settings.nanoseconds("spin"));
  pacing.yield_at_most = std::chrono::nanoseconds(settings.nanoseconds("yield"));
  pacing.stall_warn = std::chrono::nanoseconds(settings.nanoseconds("stall_warn"));
  face.rank_ = rank;
  face.ranks_ = ranks;
  face.state_ = this;
  publish_segments();
}

EndpointState::~EndpointState() = default;

void EndpointState::publish_segments() noexcept {
  face.windows_ = segments.windows();
  face.mine_ = segments.mine();
  face.segments_ = segments.size();
}

void EndpointState::peer_lost(Rank peer) noexcept {
  if (peer >= ranks || peer == rank || lost[peer]) return;
  lost[peer] = true;
  ++lost_count;
  segments.forget(peer);
  for (core::Layer* layer : layers) layer->peer_lost(peer);
  ops.fail_packets(peer, {ErrorCode::peer_lost, peer});
  log.info("rank {} is gone: what was addressed to it fails with peer_lost", peer);
}

}  // namespace aqueduct::detail

namespace aqueduct::core {

int progress(EndpointState& state) noexcept {
  if (state.polling) [[unlikely]] return 0;
  state.polling = true;
  int found = 0;
  if (state.near != nullptr) found += state.near->poll(*state.inbox);
  if (state.far != nullptr) found += state.far->poll(*state.inbox);
  if (state.busy != 0) [[unlikely]] {
    for (Layer* layer : state.layers) layer->advance();
  }
  state.polling = false;
  // A program that only polls must hear of losses too.
  if ((++state.polls & 0xffff) == 0) [[unlikely]] check_peers(state);
  return found;
}

void check_peers(EndpointState& state) noexcept {
  const auto now = std::chrono::steady_clock::now();
  if (now - state.checked_peers < std::chrono::milliseconds(20)) return;
  state.checked_peers = now;
  if (state.near != nullptr) state.near->check_peers(*state.inbox);
  if (state.far != nullptr) state.far->check_peers(*state.inbox);
  if (state.poll_losses) state.poll_losses();
}

}  // namespace aqueduct::core
