#include "conduits/ofi/lost_peers.hpp"

#include "conduits/ofi/errors.hpp"

#include <algorithm>
#include <utility>

namespace aqueduct::conduits::ofi {

void LostPeers::reserve() {
  forgotten_.reserve(peers_.count());
  suspected_.reserve(peers_.count());
}

void LostPeers::forget(Rank peer) noexcept {
  if (peer < peers_.count() && peer != me_ && !peers_[peer].gone) forgotten_.push_back(peer);
}

void LostPeers::suspect(Rank peer, const char* why) noexcept {
  if (is_known(peer)) return;
  // A rank that finishes closes its connections while others may still send it what nobody waits for.
  if (ends_expected_)
    log_.debug("ofi: rank {}: the connection to rank {}, which finishes, has ended: {}", me_, peer, why);
  else
    log_.warn("ofi: rank {}: the provider says of rank {}: {}; it is taken for lost", me_, peer, why);
  suspected_.push_back(peer);
}

void LostPeers::refused(Rank peer, const char* what, std::int64_t error) noexcept {
  const char* const text = provider_.library.text(error);
  if (code_of(static_cast<int>(-error)) == ErrorCode::peer_lost) return suspect(peer, text);
  if (is_known(peer)) return;
  log_.error("ofi: rank {}: the provider refuses {} for rank {}: {}; it is taken for lost", me_, what, peer,
             text);
  suspected_.push_back(peer);
}

void LostPeers::suspect_all() noexcept {
  for (Rank rank = 0; rank < peers_.count(); ++rank) {
    if (rank != me_ && !is_known(rank)) suspected_.push_back(rank);
  }
  if (me_ < peers_.count()) mark_gone(me_);
  deadline_ = clock_.now();
}

bool LostPeers::is_suspected(Rank peer) const noexcept {
  return std::ranges::find(suspected_, peer) != suspected_.end();
}

std::size_t LostPeers::mark_gone() noexcept {
  for (const Rank peer : forgotten_) mark_gone(peer);
  forgotten_.clear();
  for (const Rank peer : suspected_) mark_gone(peer);
  return suspected_.size();
}

void LostPeers::mark_gone(Rank peer) noexcept {
  if (std::exchange(peers_[peer].gone, true)) return;
  peers_[peer].give_up_at = clock_.now() + give_back_;
}

int LostPeers::report(std::size_t count, core::Inbox& inbox) noexcept {
  // The layers above answer with a call of `forget`, which finds the peer gone already. More suspects may be added
  // during these calls.
  for (std::size_t i = 0; i < count; ++i) inbox.lost(suspected_[i]);
  suspected_.erase(suspected_.begin(), suspected_.begin() + static_cast<std::ptrdiff_t>(count));
  return static_cast<int>(count);
}

// The provider may still use the requests to a lost peer, so they stay in use until it completes them. A request that
// does not use the caller's memory is reported at once. The others are reported when the provider completes them,
// because until then it may write into that memory. But a provider that never completes a request (to a host that went
// silent) must not hold up the caller, nor take room from operations on other peers.
int LostPeers::end_requests(core::Inbox& inbox) noexcept {
  const auto now = clock_.now();
  deadline_ = kNever;
  int calls = 0;
  std::uint32_t kept = 0;
  requests_.for_each([&](Request& request) {
    if (!request.in_use || request.replaced || !peers_[request.peer].gone) return;
    const Peer& peer = peers_[request.peer];
    const bool for_good = now >= peer.give_up_at;
    if (for_good) {
      ++kept;
    } else {
      deadline_ = std::min(deadline_, peer.give_up_at);
    }
    if (request.reported || (request.uses_caller_memory && !for_good)) return;
    request.reported = true;
    if (request.kind == Request::Kind::packet) return;
    if (request.uses_caller_memory) {
      log_.warn("ofi: rank {}: {} has not ended an operation on rank {}, which is lost; it counts as ended",
                me_, provider_.name(), request.peer);
    }
    inbox.completed(request.token, status_of(request.peer));
    ++calls;
  });
  if (kept != 0) replace(kept, now);
  return calls;
}

// Adds as many requests as the provider keeps for good.
void LostPeers::replace(std::uint32_t count, core::Clock::time_point now) noexcept {
  const bool grown = requests_.grow(count, [this](core::MutableBytes slots, void*& descriptor) {
    return !local_.needed() || local_.add(slots, descriptor) == 0;
  });
  if (!grown) {
    log_.warn("ofi: rank {}: {} keeps {} operations on lost peers, and there is no memory for others", me_,
              provider_.name(), count);
    return;
  }
  requests_.for_each([&](Request& request) {
    if (!request.in_use || !peers_[request.peer].gone) return;
    if (now >= peers_[request.peer].give_up_at) request.replaced = true;
  });
}

}  // namespace aqueduct::conduits::ofi
