#include "conduits/ibv/credits.hpp"

#include <utility>

namespace aqueduct::conduits::ibv {

// Reads the counter that the peer's adapter writes. Packets from the peer carry the same number, and may have been
// faster.
bool Credits::look_for(Link& link) noexcept {
  link.credits_came(counters_.taken_by(link.peer));
  if (link.has_credit()) return true;
  lacked_ = true;
  return false;
}

// Posts the buffers again, and returns their credits once there are enough to be worth a write. Every message to the
// peer carries credits too: so if this poll took a single message, the caller gets its turn to answer before a write is
// spent.
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
