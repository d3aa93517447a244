#include "conduits/ibv/credits.hpp"

#include <utility>

namespace aqueduct::conduits::ibv {

// The peer's adapter writes how many of my messages it has taken; packets that come from it may have said so before.
bool Credits::look_for(Link& link) noexcept {
  link.credits_came(counters_.taken_by(link.peer));
  if (link.has_credit()) return true;
  lacked_ = true;
  return false;
}

// The buffers of what was taken are posted again, and the credits for them given back, when there are enough to be worth
// it. What goes to the peer brings them along: so if only one message has come, the caller has its turn to answer first.
void Credits::repost_and_return() noexcept {
  if (!receive_.repost()) return;  // at the next poll
  for (Link* const link : taken_from_) ++link->taken;
  for (Link* const link : taken_from_) {
    if (link->pair == nullptr || !link->return_is_due()) continue;
    if (taken_from_.size() > 1 || link->not_returned() + 1 >= link->granted_to_peer) {
      send_return(*link);
    } else {
      queue_return(*link);
    }
  }
  taken_from_.clear();
}

void Credits::return_due() noexcept {
  due_now_.swap(due_);
  for (Link* const link : due_now_) {
    link->return_queued = false;
    if (link->pair != nullptr && link->return_is_due()) send_return(*link);
  }
  due_now_.clear();
}

void Credits::send_return(Link& link) noexcept {
  if (link.ready && requests_.write_number(link, link.counter, link.counter_key, link.taken)) {
    link.reported = link.taken;
  } else if (link.pair != nullptr) {
    queue_return(link);
  }
}

void Credits::queue_return(Link& link) noexcept {
  if (!std::exchange(link.return_queued, true)) due_.push_back(&link);
}

}  // namespace aqueduct::conduits::ibv
