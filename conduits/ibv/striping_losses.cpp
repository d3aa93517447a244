// Rails that fail: they are taken out of use for one peer at a time.

#include "conduits/ibv/striping.hpp"

#include <cerrno>
#include <cstring>

namespace aqueduct::conduits::ibv {

// Stops using the rail with the peer; its shares go by the first port. The queue pair is destroyed first, so that the
// device neither reads nor writes their memory any more.
void Striping::leave_rail(Rail& rail, Rank peer, const char* why) noexcept {
  if (!rail.reaches(peer)) return;
  if (!losses_.is_gone(peer) && !losses_.is_suspected(peer)) {
    env_.log.warn(
        "ibv: rank {}: {}:{} does not carry large transfers with rank {}: {}. They go by the other ports. "
        "Has the peer ended? "
        "Is the link up (`rdma link`)? Are the ports of both hosts cabled in the same order "
        "(AQUEDUCT_IBV_DEVICE)?",
        env_.me, rail.port().device, rail.port().number, peer, why);
  }
  rail.drop(peer);
  for (StripedTransfer& transfer : transfers_.all()) {
    if (transfer.shares_left == 0 || transfer.peer != peer) continue;
    for (Share& share : transfer.shares) {
      if (share.rail != &rail) continue;
      give_back(share);
      share.rail = nullptr;
      if (share.state == Share::State::by_rail) share.state = Share::State::waits;
    }
  }
}

void Striping::leave_rail(Rail& rail, const char* why) noexcept {
  for (Rank peer = 0; peer < env_.ranks; ++peer) leave_rail(rail, peer, why);
}

int Striping::end_all_with(Rank peer, core::Inbox& inbox) noexcept {
  for (const auto& rail : rails_) rail->drop(peer);
  int calls = 0;
  for (StripedTransfer& transfer : transfers_.all()) {
    if (transfer.shares_left == 0 || transfer.peer != peer) continue;
    for (Share& share : transfer.shares) {
      if (share.state == Share::State::none) continue;
      const int ended = end_share(share, losses_.status_of(peer), inbox);
      calls += ended;
      if (ended != 0) break;  // the inbox may have begun another transfer in this entry
    }
  }
  return calls;
}

// Each event is acknowledged first, because the queue pair that it names cannot be destroyed before.
void Striping::take_events(Rail& rail) noexcept {
  ibv_async_event event{};
  while (env_.verbs.get_async_event(rail.objects().context.get(), &event) == 0) {
    const char* const text = env_.verbs.event_type_str(event.event_type);
    Rank peer = kNoRank;
    bool all = false;
    switch (event.event_type) {
      case IBV_EVENT_DEVICE_FATAL:
      case IBV_EVENT_CQ_ERR: all = true; break;
      case IBV_EVENT_QP_FATAL:
      case IBV_EVENT_QP_REQ_ERR:
      case IBV_EVENT_QP_ACCESS_ERR: peer = rail.peer_of(event.element.qp->qp_num); break;
      default:
        env_.log.info("ibv: rank {}: {}:{}: {}", env_.me, rail.port().device, rail.port().number, text);
        break;
    }
    env_.verbs.ack_async_event(&event);
    if (all) leave_rail(rail, text);
    if (peer != kNoRank) leave_rail(rail, peer, text);
  }
}

void Striping::take_events() noexcept {
  for (const auto& rail : rails_) take_events(*rail);
}

}  // namespace aqueduct::conduits::ibv
