#include "conduits/loop/turns.hpp"

#include <algorithm>

namespace aqueduct::conduits::loop {

void Turns::join(Rank rank) noexcept {
  const Lock lock(mutex_);
  players_[rank].open = true;
  players_[rank].thread = std::this_thread::get_id();
}

void Turns::leave(Rank rank) noexcept {
  const Lock lock(mutex_);
  players_[rank].open = false;
  if (holder_ == rank) give_to_next();
}

void Turns::take(Rank rank) noexcept {
  Lock lock(mutex_);
  wait_for_turn(lock, rank);
}

void Turns::pass(Rank rank) noexcept {
  Lock lock(mutex_);
  wait_for_turn(lock, rank);
  give_to_next();
  wait_for_turn(lock, rank);
}

std::uint64_t Turns::passed_over() const noexcept {
  const Lock lock(mutex_);
  return passed_over_;
}

void Turns::wait_for_turn(Lock& lock, Rank rank) {
  Player& me = players_[rank];
  me.thread = std::this_thread::get_id();
  while (holder_ != rank) {
    me.away = false;  // it may have been passed over here: it got the turn but had not woken up yet
    if (holder_ == kNoRank) {
      give_to_next();
    } else if (players_[holder_].thread == me.thread) {
      holder_ = rank;  // this thread already has the turn, by another of its ranks
    } else {
      // The thread sleeps in real time. Then the clock says how long the rank has waited.
      me.its_turn.wait_for(lock, since_ + kPatience - clock_.now());
      if (holder_ == rank || clock_.now() < since_ + kPatience) continue;
      players_[holder_].away = true;
      ++passed_over_;
      give_to_next();
    }
  }
  since_ = clock_.now();
}

void Turns::give_to_next() {
  const auto can_play = [](const Player& player) { return player.open && !player.away; };
  const auto count = std::count_if(players_.begin(), players_.end(), can_play);
  holder_ = kNoRank;
  if (count == 0) return;
  auto nth = dice_.below(static_cast<std::size_t>(count));
  for (Rank rank = 0; holder_ == kNoRank; ++rank) {
    if (can_play(players_[rank]) && nth-- == 0) holder_ = rank;
  }
  since_ = clock_.now();
  players_[holder_].its_turn.notify_all();
}

}  // namespace aqueduct::conduits::loop
