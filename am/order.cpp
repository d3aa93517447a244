#include "am/messages.hpp"
#include "core/wait.hpp"

// Messages behind a fence (include/aqueduct/order.hpp). Where a conduit delivers packets in any order, a message waits
// until the peer has returned the credits of all messages from before the fence: a credit returns when its message has
// been handled. Normally a peer returns several credits together. Once it has been asked, it returns each at once.

namespace aqueduct::am {

void Messages::add_credit_returns() noexcept {
  const auto asked = [](void*, Incoming& in, const std::byte*, MutableBytes) {
    in.state.messages->peers_[in.source].return_at = 1;  // `take` returns what is owed
  };
  add_internal(kAmReturnCredits, AmCategory::short_request, 0, {asked, nullptr});
}

bool Messages::fence(Rank to) noexcept {
  Peer& peer = peers_[to];
  if (peer.lost) return false;
  if (peer.to_follow != 0) return true;  // these leave when their payload is in place
  if (peer.in_order || peer.credits == credits_per_peer_) return false;
  static_cast<void>(ask_for_credits(to));  // without a credit or room, `may_leave` tries again
  return true;
}

Post Messages::ask_for_credits(Rank to) noexcept {
  Peer& peer = peers_[to];
  if (peer.asked_credits) return Post::done();
  const Post post = try_request(to, AmCategory::short_request, kAmReturnCredits, {}, nullptr, {}, 0);
  peer.asked_credits = post.kind != Post::Kind::retry;
  return post;
}

/// Whether no fence holds back a message now. `asked`: what has become of the request for credits; done, if none was tried.
bool Messages::may_leave(Rank to, Post& asked) noexcept {
  asked = Post::done();
  const Peer& peer = peers_[to];
  if (peer.lost) return true;  // the message fails with peer_lost
  if (state_.order.holds(to, core::PeerOrder::Next::packet, peer.conduit->properties())) return false;
  if (!state_.order.messages(to)) return true;
  if (peer.to_follow != 0) return false;
  if (!peer.in_order && peer.credits != credits_per_peer_) {
    asked = ask_for_credits(to);
    return false;
  }
  state_.order.messages_arrived(to);
  return true;
}

Status Messages::wait_for_turn(Rank to, bool immediate) noexcept {
  Post asked = Post::done();
  if (state_.polling || may_leave(to, asked)) return {};
  if (immediate) return {ErrorCode::refused, to};
  core::MemoryPatience patience;
  bool without_memory = false;
  const auto turn = [&] {
    if (may_leave(to, asked)) return true;
    // Until the request for credits leaves, the peer may keep them for ever.
    if (asked.kind != Post::Kind::retry)
      patience.begin_again();
    else
      without_memory = has_no_memory_for(to, asked, patience, 0);
    return without_memory;
  };
  const Status status = core::wait_for_room(state_, turn, to, [&] {
    return fmt::format("what was begun on rank {} before a fence, to send a message after it", to);
  });
  return without_memory ? Status(ErrorCode::no_memory, to) : status;
}

}  // namespace aqueduct::am
