#include "coll/engine/abort_messages.hpp"

#include "am/messages.hpp"
#include "coll/engine/call_text.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <new>
#include <utility>

namespace aqueduct::coll {

using aqueduct::detail::Incoming;
using aqueduct::detail::TeamState;

AbortMessages::AbortMessages(core::EndpointState& state, Arrived receiver, void* owner, HandlerId handler)
    : state_(state), receiver_(receiver), owner_(owner), handler_(handler) {
  queue_.reserve(kMostQueued);
  kept_.reserve(kMostKept);
  const auto take = [](void* self, Incoming& in, const std::byte* args, core::MutableBytes) {
    AbortedCall news;
    std::memcpy(&news, args, sizeof news);
    static_cast<AbortMessages*>(self)->arrived(in.source, news);
  };
  state.messages->add_internal(handler, AmCategory::short_request, sizeof(AbortedCall),
                               {take, std::shared_ptr<void>(std::shared_ptr<void>(), this)});
}

// Whether nothing remains to be done: a message to a lost peer needs no second attempt.
bool AbortMessages::send(Rank to, const AbortedCall& news) noexcept {
  const core::Post post = state_.messages->try_request(to, AmCategory::short_request, handler_,
                                                       {&news, sizeof news, 0}, nullptr, {}, 0);
  return post.kind != core::Post::Kind::retry;
}

// Begins behind this member, so that not all members tell the same one first.
Rank AbortMessages::Queued::next_member() const noexcept {
  return rest->members[static_cast<Rank>((std::uint64_t{rest->index} + next) % rest->size())];
}

void AbortMessages::tell(const TeamState& team, std::uint64_t number, const CallDescription& call) noexcept {
  Queued one{{team.id, number, call}, {}, &team};
  list_rest(one);
  if (!one.is_over()) queue(std::move(one));
}

/// Sends to the rest of the members, and lists those for which there is no room. Returns whether memory sufficed for that.
bool AbortMessages::list_rest(Queued& one) noexcept try {
  for (; one.next < one.rest->size(); ++one.next) {
    const Rank to = one.next_member();
    if (!send(to, one.news)) one.to.push_back(to);
  }
  one.rest = nullptr;
  return true;
} catch (const std::bad_alloc&) {
  return false;
}

// If the queue is full, what says that a team is broken takes the place of a call that its sender has refused: other
// members may have refused that one, too. Room for the queue was reserved.
void AbortMessages::queue(Queued one) noexcept {
  if (queue_.size() == kMostQueued) {
    const auto last = one.news.call.refused != 0
                          ? queue_.rend()
                          : std::find_if(queue_.rbegin(), queue_.rend(),
                                         [](const Queued& old) { return old.news.call.refused != 0; });
    if (last == queue_.rend()) return drop(one.news);
    drop(last->news);
    queue_.erase(std::next(last).base());
  }
  queue_.push_back(std::move(one));
}

// A program that goes on with refused calls in a loop would fill the log.
void AbortMessages::drop(const AbortedCall& news) noexcept {
  if (++dropped_ > 1) return;
  CallText text;
  add_call(text, news.call);
  state_.log.warn(
      "no room to tell all members of a team of this rank's call {} ({}); they may wait for it: their stall "
      "reports then compare the calls",
      news.number, text.view());
}

void AbortMessages::tell_how_many_dropped() noexcept {
  if (dropped_ > 1)
    state_.log.warn(
        "in all there was no room to tell all members of their teams of {} calls of this rank: {} calls at "
        "most "
        "wait for room, so do not go on in a team after a call that failed",
        dropped_, kMostQueued);
  dropped_ = 0;
}

void AbortMessages::send_on(Queued& one) noexcept {
  std::erase_if(one.to, [&](Rank to) { return send(to, one.news); });
  // Without memory one that has no room keeps those behind it waiting.
  while (one.rest != nullptr && one.next < one.rest->size() && send(one.next_member(), one.news)) ++one.next;
  if (one.rest != nullptr && one.next == one.rest->size()) one.rest = nullptr;
}

void AbortMessages::erase_told() noexcept {
  std::erase_if(queue_, [](const Queued& one) { return one.is_over(); });
  if (queue_.empty()) tell_how_many_dropped();
}

bool AbortMessages::advance() noexcept {
  for (Queued& one : queue_) send_on(one);
  erase_told();
  return busy();
}

void AbortMessages::peer_lost(Rank peer) noexcept {
  for (Queued& one : queue_) std::erase(one.to, peer);
  erase_told();
  std::erase_if(kept_, [peer](const Kept& one) { return one.from == peer; });
}

void AbortMessages::arrived(Rank from, const AbortedCall& news) noexcept {
  if (news.number == 0) {  // calls are numbered from 1
    ++state_.statistics.rejected;
    return;
  }
  if (!receiver_(owner_, news.team, from, news.number, news.call)) keep(from, news);
}

// The oldest gives way: it may be for a team that this rank has ended.
void AbortMessages::keep(Rank from, const AbortedCall& news) noexcept {
  const auto of_peer = [from](const Kept& one) { return one.from == from; };
  if (std::count_if(kept_.begin(), kept_.end(), of_peer) == static_cast<std::ptrdiff_t>(kMostKeptOfPeer)) {
    kept_.erase(std::find_if(kept_.begin(), kept_.end(), of_peer));
    ++state_.statistics.rejected;
  } else if (kept_.size() == kMostKept) {
    kept_.erase(kept_.begin());
    ++state_.statistics.rejected;
  }
  kept_.push_back({news, from});
}

void AbortMessages::take_kept(std::uint64_t team) noexcept {
  // What the owner refuses again is kept again, behind the others.
  for (std::size_t left = kept_.size(); left != 0; --left) {
    const auto next =
        std::find_if(kept_.begin(), kept_.end(), [team](const Kept& one) { return one.news.team == team; });
    if (next == kept_.end()) return;
    const Kept one = *next;
    kept_.erase(next);
    arrived(one.from, one.news);
  }
}

void AbortMessages::forget(std::uint64_t team) noexcept {
  std::erase_if(kept_, [team](const Kept& one) { return one.news.team == team; });
  for (Queued& one : queue_) {
    if (one.rest == nullptr || one.news.team != team) continue;
    if (!state_.in_child()) {  // a child of fork sends nothing
      if (list_rest(one)) continue;
      drop(one.news);
    }
    one.rest = nullptr;
  }
  erase_told();
}

}  // namespace aqueduct::coll
