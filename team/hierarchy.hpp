#pragma once

#include <aqueduct/rank.hpp>

#include "team/rank_map.hpp"

#include <cstdint>
#include <functional>
#include <vector>

namespace aqueduct::team {

/// One level of a team's hierarchy: the members in groups of those that share a place, such as a host or, below it, a
/// memory domain.
///
/// Groups are numbered in the order of their first members. The first member of a group, in team order, is its leader.
/// Members that see the same places make the same level, without a message.
class Level {
 public:
  /// A number for the place of a rank of the job; equal numbers mean the same place.
  using PlaceOf = std::function<std::uint32_t(Rank)>;

  /// The level of `members`. May throw std::bad_alloc.
  Level(const RankMap& members, const PlaceOf& place_of);
  /// A level below `above`: each group of it is a part of one group there. Places of different groups there may have
  /// equal numbers. May throw std::bad_alloc. Requires: `above` is a level of the same members.
  Level(const RankMap& members, const PlaceOf& place_of, const Level& above);

  /// The number of groups.
  Rank groups() const noexcept { return static_cast<Rank>(leaders_.size()); }
  /// The group of the member with that index. Requires: it is an index of the team.
  Rank group_of(Rank index) const noexcept { return group_of_[index]; }
  /// The index of a group's leader. Requires: group < groups().
  Rank leader_of(Rank group) const noexcept { return leaders_[group]; }

  /// The ranks of a group, in team order. May throw std::bad_alloc. Cost: a look at each member.
  RankMap members_of(const RankMap& members, Rank group) const;
  /// The ranks of all leaders, in team order. May throw std::bad_alloc.
  RankMap leaders(const RankMap& members) const;

 private:
  Level(const RankMap& members, const PlaceOf& place_of, const Level* above);

  std::vector<Rank> group_of_;  ///< [index of a member]
  std::vector<Rank> leaders_;   ///< [group]: the index of a member
};

}  // namespace aqueduct::team
