#include "conduits/ibv/losses.hpp"

#include <algorithm>

namespace aqueduct::conduits::ibv {

Losses::Losses(const Environment& env) : env_(env), gone_(env.ranks) {
  forgotten_.reserve(env.ranks);
  suspected_.reserve(env.ranks);
  taken_.reserve(env.ranks);
}

void Losses::suspect(Rank peer, const char* why) noexcept {
  if (is_gone(peer) || is_suspected(peer)) return;
  env_.log.info("ibv: rank {}: {} says of rank {}: {}; it is taken for lost", env_.me, env_.port.device, peer,
                why);
  suspected_.push_back(peer);
}

bool Losses::is_suspected(Rank peer) const noexcept {
  return std::ranges::find(suspected_, peer) != suspected_.end();
}

void Losses::forget(Rank peer) noexcept {
  if (peer >= gone_.size() || peer == env_.me || is_gone(peer)) return;
  if (std::ranges::find(forgotten_, peer) == forgotten_.end()) forgotten_.push_back(peer);
}

void Losses::give_up(const char* why) noexcept {
  if (std::exchange(broken_, true)) return;
  env_.log.error("ibv: rank {}: {}: {}; all peers are taken for lost. dmesg may say more", env_.me,
                 env_.port.device, why);
  for (Rank rank = 0; rank < gone_.size(); ++rank) suspect(rank, why);
}

bool Losses::is_out_of_reach(Rank peer) const noexcept {
  return peer >= gone_.size() || is_gone(peer) || broken_ || is_suspected(peer);
}

core::Post Losses::no_connection(Rank peer) const noexcept {
  return is_out_of_reach(peer) ? core::Post::failed(status_of(peer).code()) : core::Post::retry();
}

}  // namespace aqueduct::conduits::ibv
