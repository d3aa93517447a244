#pragma once

#include <aqueduct/rank.hpp>

#include <functional>
#include <vector>

namespace aqueduct::coll {

/// The members of a team in groups of those that share a host, the same on all members.
///
/// Groups are numbered in the order of their first members. A member's *place* is its number if all members stand in a row,
/// group after group, those of a group in team order. The first member of a group is its leader.
///
/// Cost: 12 bytes for each member.
class Groups {
 public:
  /// `host_of` a position in the team. Equal numbers: the same host. May throw std::bad_alloc.
  Groups(Rank ranks, const std::function<Rank(Rank position)>& host_of);

  Rank ranks() const noexcept { return static_cast<Rank>(member_.size()); }
  /// The number of groups.
  Rank count() const noexcept { return static_cast<Rank>(begin_.size() - 1); }
  /// Whether some members have to be reached by a network, and others not.
  bool are_of_use() const noexcept { return count() > 1 && most_ > 1; }
  Rank size(Rank group) const noexcept { return begin_[group + 1] - begin_[group]; }
  /// The size of the largest group.
  Rank most() const noexcept { return most_; }
  /// The place of a group's first member.
  Rank begin(Rank group) const noexcept { return begin_[group]; }
  Rank group_of(Rank position) const noexcept { return group_[position]; }
  Rank place_of(Rank position) const noexcept { return place_[position]; }
  Rank member_at(Rank place) const noexcept { return member_[place]; }
  Rank leader_of(Rank group) const noexcept { return member_[begin_[group]]; }
  /// The index-th of those that share a group with a member, itself left out. Requires: index < size of the group - 1.
  Rank mate_of(Rank position, Rank index) const noexcept {
    const Rank place = begin_[group_[position]] + index;
    return member_[place < place_[position] ? place : place + 1];
  }
  /// Whether places are positions: the members of a group follow one another in the team.
  bool in_team_order() const noexcept { return in_team_order_; }

 private:
  std::vector<Rank> begin_;   ///< [group], and the end of the last
  std::vector<Rank> member_;  ///< [place]
  std::vector<Rank> place_;   ///< [position]
  std::vector<Rank> group_;   ///< [position]
  Rank most_ = 0;
  bool in_team_order_ = true;
};

/// Null: the algorithm does not go by groups. Two views count as equal, since those of a team always are. So whatever keeps
/// answers for shapes must be of one team, or of teams with the same groups.
struct GroupsView {
  const Groups* of = nullptr;

  friend constexpr bool operator==(const GroupsView&, const GroupsView&) noexcept { return true; }
};

}  // namespace aqueduct::coll
