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
void Credits::give_room() noexcept {
  if (!receive_.repost()) return;  // at the next poll
  for (Link* const link : taken_from_) ++link->taken;
  for (Link* const link : taken_from_) {
    if (link->pair == nullptr || !link->owes_much()) continue;
    if (taken_from_.size() > 1 || link->owed() + 1 >= link->grants) {
      give(*link);
    } else {
      owe(*link);
    }
  }
  taken_from_.clear();
}

void Credits::return_owed() noexcept {
  owing_now_.swap(owing_);
  for (Link* const link : owing_now_) {
    link->owing = false;
    if (link->pair != nullptr && link->owes_much()) give(*link);
  }
  owing_now_.clear();
}

void Credits::give(Link& link) noexcept {
  if (link.ready && requests_.write_number(link, link.counter, link.counter_key, link.taken)) {
    link.told = link.taken;
  } else if (link.pair != nullptr) {
    owe(link);
  }
}

void Credits::owe(Link& link) noexcept {
  if (!std::exchange(link.owing, true)) owing_.push_back(&link);
}

}  // namespace aqueduct::conduits::ibv
