#pragma once

#include "coll/schedule/passes.hpp"
#include "coll/schedule/tree.hpp"

#include <cstdint>

namespace aqueduct::coll {

/// A tree over the members of a team, with any of them as its root: a Tree whose positions are counted from the root. It
/// answers the same questions as GroupsTree.
class RootedTree {
 public:
  RootedTree(const Tree& tree, Rank root) noexcept : tree_(tree), root_(root) {}

  bool is_root(Rank position) const noexcept { return position == root_; }
  Rank parent(Rank position) const noexcept { return back(tree_.parent(in_tree(position))); }
  std::uint32_t children(Rank position) const noexcept { return tree_.children(in_tree(position)); }
  Rank child(Rank position, std::uint32_t index) const noexcept {
    return back(tree_.child(in_tree(position), index));
  }
  std::uint32_t index_of(Rank position) const noexcept { return tree_.index_of(in_tree(position)); }
  std::uint32_t most_children() const noexcept { return tree_.most_children(); }
  std::uint32_t depth() const noexcept { return tree_.depth(); }

 private:
  Rank in_tree(Rank position) const noexcept { return relative(position, root_, tree_.ranks); }
  Rank back(Rank number) const noexcept { return absolute(number, root_, tree_.ranks); }

  Tree tree_;
  Rank root_;
};

}  // namespace aqueduct::coll
