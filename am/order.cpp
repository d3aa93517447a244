#include "am/messages.hpp"
#include "core/wait.hpp"

// Messages behind a fence (include/aqueduct/order.hpp). Where a conduit delivers packets in any order, a message waits
// until the peer has returned the credits of all messages from before the fence: a credit returns when its message has
// been handled. Normally a peer returns several credits together. Once it has been asked, it returns each at once.

namespace aqueduct::am {

void Messages::add_credit_returns() noexcept {
  const auto asked = [](void*, Incoming& in, const std::byte*, MutableBytes) {
    in.state.messages->peers_[in.source].return_at = 1;  // `dispatch` returns what is owed
  };
  add_internal(kAmReturnCredits, AmCategory::short_request, 0, {asked, nullptr});
}

bool Messages::fence(Rank to) noexcept {
  Peer& peer = peers_[to];
  if (peer.lost) return false;
  if (peer.to_follow != 0) return true;  // these leave when their payload is in place
  if (peer.in_order || peer.credits == credits_per_peer_) return false;
  ask_for_credits(to);
  return true;
}

void Messages::ask_for_credits(Rank to) noexcept {
  Peer& peer = peers_[to];
  if (peer.asked_credits) return;
  const Post post = try_request(to, AmCategory::short_request, kAmReturnCredits, {}, nullptr, {}, 0);
  peer.asked_credits = post.kind != Post::Kind::retry;  // without a credit or room, `may_leave` tries again
}

bool Messages::may_leave(Rank to) noexcept {
  const Peer& peer = peers_[to];
  if (peer.lost) return true;  // the message fails with peer_lost
  if (state_.order.holds(to, core::PeerOrder::Next::packet, peer.conduit->properties())) return false;
  if (!state_.order.messages(to)) return true;
  if (peer.to_follow != 0) return false;
  if (!peer.in_order && peer.credits != credits_per_peer_) {
    ask_for_credits(to);
    return false;
  }
  state_.order.messages_arrived(to);
  return true;
}

Status Messages::wait_for_turn(Rank to, bool immediate) noexcept {
  if (state_.polling || may_leave(to)) return {};
  if (immediate) return {ErrorCode::refused, to};
  return core::wait_for_room(
      state_, [&] { return may_leave(to); }, to,
      [&] {
        return fmt::format("what was begun on rank {} before a fence, to send a message after it", to);
      });
}

}  // namespace aqueduct::am
