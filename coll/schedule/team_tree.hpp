#pragma once

#include <aqueduct/rank.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace aqueduct::coll {

/// A tree over the members of a team that is kept member by member, because no formula says it: it may go over the members
/// in any order, have another tree in each of several portions, or have been given by the parent of each member.
///
/// Any member may be the root of an operation (RootedTeamTree): the edges stay, and those between that member and the
/// tree's own root are used in the other direction. So edges that are links of a network stay links.
///
/// All members stand in a ring of *places* such that every subtree is a range of the ring, whoever is the root. Place 0
/// is member 0's. If subtrees are ranges of the team, every member's place is its position (`in_team_order`).
///
/// Cost: 24 bytes for each member, and 4 for each run.
class TeamTree {
 public:
  /// Why these are not the parents of a tree: several roots or none, a parent that is no member, members that are their
  /// own ancestors. Empty if they are. The root's parent is kNoRank.
  static std::string objection(std::span<const Rank> parents);

  /// `order`: members by which those with one parent are ordered: the last one is sent to first. Empty: the team's order,
  /// counted from the root. May throw std::bad_alloc.
  /// Requires: no objection; `order` is empty or a permutation of all members.
  explicit TeamTree(std::span<const Rank> parents, std::span<const Rank> order = {});

  Rank ranks() const noexcept { return static_cast<Rank>(parent_.size()); }
  Rank root() const noexcept { return root_; }
  /// kNoRank of the root.
  Rank parent(Rank member) const noexcept { return parent_[member]; }
  /// Those whose parent is this member, in the order of their places counted from it.
  std::span<const Rank> children(Rank member) const noexcept {
    return {children_.data() + first_child_[member], first_child_[member + 1] - first_child_[member]};
  }
  /// The members of the subtree, itself included.
  Rank subtree(Rank member) const noexcept { return subtree_[member]; }
  Rank place_of(Rank member) const noexcept { return place_[member]; }
  Rank member_at(Rank place) const noexcept { return member_[place]; }
  /// The number of edges between the root and the member.
  std::uint32_t depth_of(Rank member) const noexcept;
  /// The number of edges from the root to the farthest member.
  std::uint32_t depth() const noexcept { return depth_; }
  /// The most members that share an edge with one, its parent included, if all of them may be children.
  std::uint32_t most_neighbours() const noexcept { return most_neighbours_; }

  /// Ranges of places in which members follow one another. One, if all places are positions.
  std::uint32_t runs() const noexcept { return static_cast<std::uint32_t>(run_begin_.size() - 1); }
  bool in_team_order() const noexcept { return runs() == 1; }
  Rank run_begin(std::uint32_t run) const noexcept { return run_begin_[run]; }
  Rank run_end(std::uint32_t run) const noexcept { return run_begin_[run + 1]; }
  /// The run with this place.
  std::uint32_t run_of(Rank place) const noexcept;

 private:
  Rank root_ = 0;
  std::uint32_t depth_ = 0;
  std::uint32_t most_neighbours_ = 0;
  std::vector<Rank> parent_;
  std::vector<Rank> children_;
  std::vector<Rank> first_child_;  ///< [member], and the end of the last one's
  std::vector<Rank> subtree_;
  std::vector<Rank> place_;
  std::vector<Rank> member_;     ///< [place]
  std::vector<Rank> run_begin_;  ///< [run], and the end of the last
};

/// A team's tree as an operation with this root uses it. It answers the same questions as RootedTree and GroupsTree.
class RootedTeamTree {
 public:
  /// Requires: `tree` outlives it; root < tree.ranks().
  RootedTeamTree(const TeamTree& tree, Rank root) noexcept : tree_(tree), root_(root) {}

  bool is_root(Rank member) const noexcept { return member == root_; }
  /// Requires: it is not the root.
  Rank parent(Rank member) const noexcept;
  std::uint32_t children(Rank member) const noexcept;
  /// In the order of sending. Requires: index < children(member).
  Rank child(Rank member, std::uint32_t index) const noexcept;
  /// The index of a member among its parent's children. Requires: it is not the root.
  std::uint32_t index_of(Rank member) const noexcept;
  /// The index of the root's child that has a member in its subtree. Requires: the member is not the root.
  std::uint32_t child_toward(Rank member) const noexcept;
  /// At least the number of children that any member has.
  std::uint32_t most_children() const noexcept { return tree_.most_neighbours(); }
  /// At least the number of edges from the root to the farthest member.
  std::uint32_t depth() const noexcept { return tree_.depth() + tree_.depth_of(root_); }

  /// The members of the subtree below and with a member: `subtree` places of the ring from `begin` on.
  Rank subtree(Rank member) const noexcept;
  Rank begin(Rank member) const noexcept;
  /// How many places behind the place `from` another one is.
  Rank behind(Rank from, Rank place) const noexcept {
    return place >= from ? place - from : place + (tree_.ranks() - from);
  }

 private:
  /// Whether the operation's root is in the subtree that the member has in the tree itself.
  bool leads_to_root(Rank member) const noexcept {
    return behind(tree_.place_of(member), tree_.place_of(root_)) < tree_.subtree(member);
  }
  /// Where among its children the operation's root is. Requires: it leads there, and is not that root.
  std::uint32_t way_to_root(Rank member) const noexcept { return slot_with(member, root_); }
  /// Which child has `below` in its subtree.
  std::uint32_t slot_with(Rank member, Rank below) const noexcept;

  const TeamTree& tree_;
  Rank root_;
};

/// Null: the algorithm does not go by a tree of the team's. Two views count as equal, as two of GroupsView.
struct TeamTreeView {
  const TeamTree* of = nullptr;

  friend constexpr bool operator==(const TeamTreeView&, const TeamTreeView&) noexcept { return true; }
};

}  // namespace aqueduct::coll
