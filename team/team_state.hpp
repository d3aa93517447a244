#pragma once

#include <aqueduct/team.hpp>

#include "core/endpoint_state.hpp"
#include "team/rank_map.hpp"

#include <array>
#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

namespace aqueduct::detail {

/// The data that layers keep for each team: a slot for each layer
/// that has some. The layer sets its pointer and clears it.
enum class TeamSlot : std::uint8_t { barrier, collectives, count };

/// A team on one member: the members in order, and the layers' data for the team.
struct TeamState {
  EndpointState& endpoint;
  std::uint64_t id;  ///< the same on all members; other teams have other ids
  team::RankMap members;
  Rank index = 0;          ///< of this rank
  std::uint64_t name = 0;  ///< of a team that its members have created (coll/team_names.hpp); else 0
  std::uint64_t tag = 0;   ///< of such a team: the caller's
  /// Of a team that `without_lost` has made, the tag of all attempts at it; else 0. See coll/survivors.cpp.
  std::uint64_t survivors_tag = 0;
  /// The rank of a member that failed to make the team, and its reason. The member counts as lost. ok: all members have it.
  Status absent;
  /// Checked builds: the thread in a collective call of this team (coll/one_caller.hpp); null: none.
  std::atomic<const void*> caller{nullptr};

  TeamState(EndpointState& ep, std::uint64_t team, team::RankMap ranks);

  Rank size() const noexcept { return members.size(); }
  /// The index of a rank, or kNoRank if it is not a member.
  Rank find(Rank rank) const noexcept { return members.find(rank); }
  /// The members' ranks, listed at the first call. Empty if there is no memory for the list.
  std::span<const Rank> list() noexcept;
  void*& slot(TeamSlot which) noexcept { return slots_[static_cast<std::size_t>(which)]; }
  /// A member that is lost or absent, or kNoRank. Of several the one of which this rank has learned first: others that are in
  /// Job::finish leave because of it, and count as lost too.
  Rank lost_member() const noexcept;
  /// Why no call of the team can succeed: a member is lost, or does not have the team. ok: all are there.
  Status loss() const noexcept;

 private:
  std::array<void*, static_cast<std::size_t>(TeamSlot::count)> slots_{};
  std::vector<Rank> listed_;
};

}  // namespace aqueduct::detail
