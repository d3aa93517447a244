#include "core/endpoint_state.hpp"

#include <aqueduct/team.hpp>

#include <cstddef>
#include <new>

namespace aqueduct::detail {

// The face lies across a page border. Its pointer to the state is before the border; the fields that inline code reads
// are behind it, in pages that are zero in a forked child. So inline calls of a child find nothing mapped and take the
// cold path. The cold path finds the state, with no ranks, and refuses the call (`in_child`).
Endpoint& EndpointState::make_face(const core::WipedMemory& pages) noexcept {
  static_assert(offsetof(Endpoint, state_) == 0 && offsetof(Endpoint, unused_) == sizeof(EndpointState*));
  return *new (pages.border() - sizeof(EndpointState*)) Endpoint;
}

namespace {

// A thread that stands in for the program is a second one on the endpoint, whatever the program does.
Threads threads_of(const Config& settings) {
  if (settings.nanoseconds("coll_progress") > 0) return Threads::multiple;
  const std::string text = settings.text("threads");
  if (text == to_string(Threads::multiple)) return Threads::multiple;
  return text == to_string(Threads::serialized) ? Threads::serialized : Threads::single;
}

}  // namespace

EndpointState::EndpointState(Rank my_rank, Rank all, const Config& settings)
    : face_pages(sizeof(EndpointState*), sizeof(Endpoint) - sizeof(EndpointState*)),
      face(make_face(face_pages)),
      rank(my_rank),
      ranks(all),
      config(settings),
      guard(threads_of(settings)),
      log(settings, my_rank),
      conduit_of(all),
      host_of(all),
      lost(all),
      ops(static_cast<std::uint32_t>(settings.number("operations")), &face),
      implicit(*this),
      continuations(*this),
      handlers(*this),
      segments(all, static_cast<std::uint32_t>(settings.number("segments"))),
      hidden(core::HiddenSizes::of(settings)),
      order(all, segments) {
  if (const auto wanted = settings.number("operations"); ops.capacity() < wanted) {
    log.warn(
        "there is address space for {} events only, not for {} (AQUEDUCT_OPERATIONS): is `ulimit -v` set?",
        ops.capacity(), wanted);
  }
  if (const auto wanted = settings.number("segments"); segments.capacity() < wanted) {
    log.warn(
        "there is address space for {} segments only, not for {} (AQUEDUCT_SEGMENTS): is `ulimit -v` set?",
        segments.capacity(), wanted);
  }
  if (guard.guards()) ops.guard_by(guard);
  unobserved.pool = &ops;
  unobserved.kind = &core::kGroup;
  unobserved.parts = 1;  // a part that never ends, so that the group does not end either
  pacing.spin_for(std::chrono::nanoseconds(settings.nanoseconds("spin")));
  pacing.yield_at_most = std::chrono::nanoseconds(settings.nanoseconds("yield"));
  pacing.stall_warn = std::chrono::nanoseconds(settings.nanoseconds("stall_warn"));
  face.rank_ = rank;
  face.ranks_ = ranks;
  face.state_ = this;
  show_segments();
  add_statistics({{"sleeps", "waits", &statistics.sleeps}, {"stalls", "waits", &statistics.stalls}});
}

EndpointState::~EndpointState() {
  *link = nullptr;
  groups.close();
  continuations.close();
}

void EndpointState::show_segments() noexcept {
  face.windows_ = segments.windows();
  face.value_windows_ = segments.value_windows();
  face.segment_shift_ = segments.shift();
  face.segments_ = segments.capacity();
  static_assert(Endpoint::kRows <= core::SegmentTable::kFewestRows);
  for (SegmentId segment = 0; segment < Endpoint::kRows; ++segment) {
    const std::size_t row = std::size_t{segment} << segments.shift();
    face.rows_[segment] = face.windows_ + row;
    face.value_rows_[segment] = face.value_windows_ + row;
  }
}

void EndpointState::peer_lost(Rank peer) noexcept {
  if (peer >= ranks || peer == rank || lost[peer]) return;
  lost[peer] = true;
  if (lost_count < first_lost.size()) first_lost[lost_count] = peer;
  ++lost_count;
  segments.forget(peer);
  if (conduit_of[peer] != nullptr) conduit_of[peer]->forget(peer);
  // If the network does atomics, the far conduit may have operations on a neighbour's memory too.
  if (far != nullptr && far.get() != conduit_of[peer] && !network_atomics.empty()) far->forget(peer);
  for (const core::BuiltLayer& built : layers) built.layer->peer_lost(peer);
  order.forget(peer);
  ops.fail_packets(peer, {ErrorCode::peer_lost, peer});
  guard.changed();  // waits of other threads end too
  log.info("rank {} is gone: what was addressed to it fails with peer_lost", peer);
}

}  // namespace aqueduct::detail
