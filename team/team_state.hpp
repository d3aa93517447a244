#pragma once

#include <aqueduct/team.hpp>

#include "core/endpoint_state.hpp"

#include <cstdint>
#include <vector>

namespace aqueduct::coll {
struct BarrierState;
}

namespace aqueduct::detail {

/// The members of a team in order, and the state that coll/ keeps for the team.
struct TeamState {
  EndpointState& endpoint;
  std::uint64_t id;            ///< the same on all members, different from that of other teams
  std::vector<Rank> members;   ///< in team order
  std::vector<Rank> index_of;  ///< by rank; kNoRank for non-members; empty if member i is rank i
  Rank index = 0;
  std::uint32_t splits = 0;               ///< number of splits so far: a part of the children's ids
  coll::BarrierState* barrier = nullptr;  ///< owned by coll::Barriers
  std::uint64_t exchanges = 0;            ///< number of collective exchanges so far

  TeamState(EndpointState& ep, std::uint64_t team, std::vector<Rank> ranks);

  Rank size() const noexcept { return static_cast<Rank>(members.size()); }
  /// The index of a rank, or kNoRank if it is not a member.
  Rank find(Rank rank) const noexcept;
  /// A member that is lost, or kNoRank.
  Rank lost_member() const noexcept;
};

}  // namespace aqueduct::detail
