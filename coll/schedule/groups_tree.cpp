#include "coll/schedule/groups_tree.hpp"

namespace aqueduct::coll {

GroupsTree::GroupsTree(const Groups& groups, Rank root, std::uint32_t radix) noexcept
    : groups_(groups),
      root_(root),
      root_group_(groups.group_of(root)),
      leaders_{Tree::Kind::k_nomial, radix, groups.count()} {}

Rank GroupsTree::in_tree(Rank group) const noexcept {
  return group >= root_group_ ? group - root_group_ : group + (groups_.count() - root_group_);
}
Rank GroupsTree::at_tree(Rank number) const noexcept {
  const Rank before = groups_.count() - root_group_;
  return number < before ? number + root_group_ : number - before;
}

Rank GroupsTree::parent(Rank position) const noexcept {
  const Rank group = groups_.group_of(position);
  const Rank leader = leader_of(group);
  return position != leader ? leader : leader_of(at_tree(leaders_.parent(in_tree(group))));
}

std::uint32_t GroupsTree::children(Rank position) const noexcept {
  const Rank group = groups_.group_of(position);
  if (position != leader_of(group)) return 0;
  return leaders_.children(in_tree(group)) + groups_.size(group) - 1;
}

Rank GroupsTree::child(Rank position, std::uint32_t index) const noexcept {
  const Rank group = groups_.group_of(position);
  const std::uint32_t leaders = leaders_.children(in_tree(group));
  if (index < leaders) return leader_of(at_tree(leaders_.child(in_tree(group), index)));
  return groups_.mate_of(position, index - leaders);
}

std::uint32_t GroupsTree::index_of(Rank position) const noexcept {
  const Rank group = groups_.group_of(position);
  const Rank leader = leader_of(group);
  if (position == leader) return leaders_.index_of(in_tree(group));
  const Rank place = groups_.place_of(position);
  const Rank before = place - groups_.begin(group) - (place > groups_.place_of(leader) ? 1 : 0);
  return leaders_.children(in_tree(group)) + before;
}

GroupsTree::Places GroupsTree::places(Rank position) const noexcept {
  const Rank group = groups_.group_of(position);
  if (position != leader_of(group)) return {place_of(position), 1};
  const Rank number = in_tree(group);
  const Rank behind = number + leaders_.subtree(number);
  const Rank first = from_root(groups_.begin(group));
  const Rank end = behind == groups_.count() ? groups_.ranks() : from_root(groups_.begin(at_tree(behind)));
  return {first, end - first};
}

std::uint64_t GroupsTree::blocks_moved() const noexcept {
  std::uint64_t blocks = groups_.ranks() - groups_.count();
  for (Rank group = 0; group < groups_.count(); ++group)
    if (group != root_group_) blocks += places(leader_of(group)).count;
  return blocks;
}

}  // namespace aqueduct::coll
