#include "conduits/ofi/ofi_conduit.hpp"
#include "conduits/ofi/wire.hpp"

#include <cstring>

namespace aqueduct::conduits::ofi {
namespace {

using Clock = std::chrono::steady_clock;

// Chosen: the word itself waits behind the bytes of a transfer over a stream, of 20 MB at 1 GB/s. Far more than a rank
// yields by itself, and nothing beside what a job's start takes of a core.
constexpr std::chrono::milliseconds kStaysAwake{20};
constexpr std::chrono::milliseconds kAgainAfter{10};

}  // namespace

// Where the target's polls carry puts and gets out (manual progress), they do so unseen: a rank that waits for something
// else would take naps between them, of 100 us each. So whoever transfers says so, once in a while, out of what room
// there is.
void OfiConduit::keep_awake(Rank peer) noexcept {
  Peer& to = peers_[peer];
  const auto now = Clock::now();
  if (now < to.say_again) return;
  to.say_again = now + kAgainAfter;
  Request* const request = begin(peer, Request::Kind::packet, 0);
  if (request == nullptr) return;
  const PacketHead head{me_, kIsSignal};
  std::memcpy(request->slot, &head, sizeof head);
  const auto answer =
      ::fi_send(objects_.ep.get(), request->slot, sizeof head, request->descriptor, to.at, &request->context);
  static_cast<void>(posted(*request, answer, "a packet"));
}

// Whom something was transferred to since the last look, and as long as that lasts: more often follows.
void OfiConduit::keep_awake() noexcept {
  std::erase_if(kept_awake_, [this](Rank rank) {
    Peer& peer = peers_[rank];
    if (!peer.gone) keep_awake(rank);
    peer.kept_awake = peer.in_flight != 0 && !peer.gone;
    return !peer.kept_awake;
  });
}

void OfiConduit::stay_awake() noexcept { awake_until_ = Clock::now() + kStaysAwake; }

bool OfiConduit::is_kept_awake() noexcept {
  if (Clock::now() < awake_until_) return true;
  awake_until_ = {};
  return false;
}

}  // namespace aqueduct::conduits::ofi
