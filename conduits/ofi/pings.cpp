#include "conduits/ofi/pings.hpp"

#include "conduits/ofi/messages.hpp"

namespace aqueduct::conduits::ofi {

void Pings::go_on(Messages& messages) noexcept {
  const auto now = clock_.now();
  if (next_at_ == core::Clock::time_point{}) next_at_ = now + kEvery;
  if (now < next_at_) return;
  next_at_ = now + kEvery;
  const Rank ranks = peers_.count();
  // With much under way, it may be the provider's own room that lacks.
  std::uint64_t under_way = 0;
  for (Rank rank = 0; rank < ranks; ++rank) under_way += peers_[rank].in_flight;
  Rank pinged = 0;
  for (Rank looked = 0; looked < ranks && pinged < kMostAtOnce; ++looked, next_ = (next_ + 1) % ranks) {
    Peer& peer = peers_[next_];
    // What is under way to it shows the same.
    if (next_ == me_ || peer.gone || peer.in_flight != 0 || !(peer.heard || peer.reached)) continue;
    ++pinged;
    // A peer that has never taken anything may be busy with something else.
    if (messages.send_ping(next_) || !peer.reached || under_way > kMostUnderWay) continue;
    if (++peer.refused_pings >= kMostRefused)
      lost_.suspect(next_, "its connection has ended, and it takes no other one");
  }
}

}  // namespace aqueduct::conduits::ofi
