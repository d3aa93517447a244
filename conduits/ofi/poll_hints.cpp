#include "conduits/ofi/poll_hints.hpp"

#include "conduits/ofi/messages.hpp"

namespace aqueduct::conduits::ofi {

int PollHints::round(Messages& messages) noexcept {
  // A target stays in the list while operations on it are outstanding, because more operations often follow.
  std::erase_if(targets_, [&](Rank rank) {
    Peer& peer = peers_[rank];
    if (const auto now = clock_.now(); !peer.gone && now >= peer.next_hint) {
      peer.next_hint = now + kHintEvery;
      messages.send_hint(rank);
    }
    peer.is_hinted = peer.in_flight != 0 && !peer.gone;
    return !peer.is_hinted;
  });
  if (busy_until_ == core::Clock::time_point{}) return 0;
  if (clock_.now() < busy_until_) return 1;
  busy_until_ = {};
  return 0;
}

}  // namespace aqueduct::conduits::ofi
