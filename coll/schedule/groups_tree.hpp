#pragma once

#include "coll/schedule/groups.hpp"
#include "coll/schedule/tree.hpp"

#include <cstdint>

namespace aqueduct::coll {

/// A tree over the members of a team in which each edge between hosts is one between leaders: a k-nomial tree of the
/// leaders, and below each leader the other members of its group. The leader of the root's group is the root itself.
///
/// Children are in the order of sending: leaders first, since what goes to them has the longest way.
class GroupsTree {
 public:
  /// Requires: `groups` outlives it; root < groups.ranks(); radix >= 2.
  GroupsTree(const Groups& groups, Rank root, std::uint32_t radix) noexcept;

  Rank root() const noexcept { return root_; }
  bool is_root(Rank position) const noexcept { return position == root_; }
  /// Requires: it is not the root.
  Rank parent(Rank position) const noexcept;
  std::uint32_t children(Rank position) const noexcept;
  /// Requires: index < children(position).
  Rank child(Rank position, std::uint32_t index) const noexcept;
  /// The index of `position` among its parent's children. Requires: it is not the root.
  std::uint32_t index_of(Rank position) const noexcept;
  /// At least the number of children that any member has.
  std::uint32_t most_children() const noexcept { return leaders_.most_children() + groups_.most() - 1; }
  /// At least the number of edges from the root to the farthest member.
  std::uint32_t depth() const noexcept { return leaders_.depth() + 1; }

  /// A member's place, counted from the first of the root's group.
  Rank place_of(Rank position) const noexcept { return from_root(groups_.place_of(position)); }
  /// Such places of consecutive members.
  struct Places {
    Rank first;
    Rank count;
  };
  /// Those of a member and of all below it: they are one range, of a leader that of whole groups.
  Places places(Rank position) const noexcept;
  /// The edges between the root and all others, added up: the blocks that move if each member has one.
  std::uint64_t blocks_moved() const noexcept;

 private:
  Rank leader_of(Rank group) const noexcept {
    return group == root_group_ ? root_ : groups_.leader_of(group);
  }
  /// The number of a group in the tree of leaders, and back.
  Rank in_tree(Rank group) const noexcept;
  Rank at_tree(Rank number) const noexcept;

  Rank from_root(Rank place) const noexcept {
    const Rank first = groups_.begin(root_group_);
    return place >= first ? place - first : place + (groups_.ranks() - first);
  }

  const Groups& groups_;
  Rank root_;
  Rank root_group_;
  Tree leaders_;
};

}  // namespace aqueduct::coll
