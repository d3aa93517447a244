#pragma once

#include <aqueduct/team.hpp>

#include "core/endpoint_state.hpp"

#include <cstdint>
#include <vector>

namespace aqueduct::coll {
struct BarrierState;
}

namespace aqueduct::detail {

/// Who belongs, in which order; and the barrier of these ranks, which coll/ runs.
struct TeamState {
  EndpointState& endpoint;
  std::uint64_t id;            ///< the same on every member, and no other team's
  std::vector<Rank> members;   ///< in team order
  std::vector<Rank> index_of;  ///< by rank; kNoRank for strangers; empty when member i is rank i
  Rank index = 0;
  std::uint32_t splits = 0;               ///< how many times it was split: part of its children's ids
  coll::BarrierState* barrier = nullptr;  ///< owned by coll::Barriers
  std::uint64_t exchanges = 0;            ///< how many collective exchanges it has made

  TeamState(EndpointState& ep, std::uint64_t team, std::vector<Rank> ranks);

  Rank size() const noexcept { return static_cast<Rank>(members.size()); }
  Rank find(Rank rank) const noexcept;
  /// A member that is lost, or kNoRank.
  Rank lost_member() const noexcept;
};

}  // namespace aqueduct::detail
