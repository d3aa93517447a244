// A team of the members that are left.

#include <aqueduct/team.hpp>

#include "coll/barriers.hpp"
#include "coll/engine/collectives.hpp"
#include "core/entry.hpp"
#include "core/wait.hpp"

#include <algorithm>
#include <new>
#include <span>
#include <string>
#include <vector>

namespace aqueduct {

using detail::TeamState;

namespace {

/// The tag under which members of `team` meet who know of a loss. The team that they make inherits it.
///
/// When a member dies while the others make a team, some may have made it and others not. Those that have it learn of the
/// loss when they use it, and call without_lost on the new team or again on the old one. The others try again within their
/// first call. All of these use this tag with the ranks that are left, so they meet.
std::uint64_t survivors_tag(const TeamState& team) noexcept {
  if (team.survivors_tag != 0) return team.survivors_tag;
  return coll::mixed(team.id, 0x6c656674);  // "left"
}

/// The tag for members that know of no loss. Another one, because a team that was made here may hold the name of the other
/// tag and all its ranks.
std::uint64_t whole_tag(const TeamState& team) noexcept {
  return coll::mixed(team.id, 0x77686f6c65);  // "whole"
}

/// Makes the ranks that are not in the new team lost for this endpoint. Only other members may have noticed those losses.
void learn_of(TeamState& team, std::span<const Rank> left) noexcept {
  detail::EndpointState& state = team.endpoint;
  coll::Collectives& collectives = *state.layer<coll::Collectives>();
  bool news = false;
  for (Rank i = 0; i < team.size(); ++i) {
    const Rank rank = team.members[i];
    if (rank != team.absent.peer() && std::ranges::find(left, rank) == left.end())
      news = collectives.learns_of_loss(rank) || news;
  }
  if (!news) return;
  static_cast<void>(core::wait_until(
      state, [&] { return !collectives.has_losses_to_tell(); }, kNoRank,
      [] { return std::string("this rank's own news of lost ranks"); }));
}

}  // namespace

// A member that knows of fewer losses than another begins with more ranks, and waits for one that is gone. It learns so of
// the loss and tries again, as long as there are further losses: at most once for each member.
Result<Team> Team::without_lost() try {
  if (!state_ || coll::barrier_of(*state_) == nullptr) return ErrorCode::closed;
  TeamState& team = *state_;
  const core::Entry entry(team.endpoint);
  if (team.endpoint.in_child()) return ErrorCode::invalid_argument;
  if (team.endpoint.must_not_wait()) return ErrorCode::in_handler;
  const std::uint64_t tag = survivors_tag(team);
  std::vector<Rank> left(team.size());
  for (Rank i = 0; i < team.size(); ++i) left[i] = team.members[i];
  for (;;) {
    std::erase_if(left, [&](Rank rank) { return team.endpoint.lost[rank] || rank == team.absent.peer(); });
    const bool whole = left.size() == team.size();
    auto made = create(team.endpoint.face, left, whole ? whole_tag(team) : tag);
    if (made) {
      made->state().survivors_tag = tag;
      learn_of(team, left);
    }
    if (made || made.status().code() != ErrorCode::peer_lost) return made;
    // Another member may have reported the loss, of which this endpoint does not know yet.
    if (std::erase(left, made.status().peer()) == 0) return made;
  }
} catch (const std::bad_alloc&) {
  return ErrorCode::no_memory;
}

}  // namespace aqueduct
