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

 private:
  Rank leader_of(Rank group) const noexcept {
    return group == root_group_ ? root_ : groups_.leader_of(group);
  }
  /// The number of a group in the tree of leaders, and back.
  Rank in_tree(Rank group) const noexcept;
  Rank at_tree(Rank number) const noexcept;

  const Groups& groups_;
  Rank root_;
  Rank root_group_;
  Tree leaders_;
};

}  // namespace aqueduct::coll
