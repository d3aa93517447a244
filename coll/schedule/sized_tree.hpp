#pragma once

#include "coll/schedule/passes.hpp"
#include "coll/schedule/tree.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace aqueduct::coll {

/// A k-ary tree over the members of a team whose subtrees' sizes are noted (Noted), for who follows all members. It answers the
/// same questions as RootedTree, each in O(1).
class SizedTree {
 public:
  /// `notes`: as `note` has written them.
  SizedTree(const Tree& tree, Rank root, std::span<const std::int8_t> notes) noexcept
      : tree_(tree), root_(root), notes_(notes) {}

  static std::size_t notes(const Tree& tree) noexcept { return tree.ranks * sizeof(Rank); }
  /// Requires: notes.size() == SizedTree::notes(tree), and memory for any type.
  static void note(const Tree& tree, std::span<std::int8_t> notes) noexcept {
    tree.subtrees({reinterpret_cast<Rank*>(notes.data()), tree.ranks});
  }

  bool is_root(Rank position) const noexcept { return position == root_; }
  std::uint32_t children(Rank position) const noexcept {
    const Rank here = relative(position, root_, tree_.ranks);
    return tree_.children(here, size_of(here));
  }
  Rank child(Rank position, std::uint32_t index) const noexcept {
    const Rank here = relative(position, root_, tree_.ranks);
    return absolute(tree_.child(here, size_of(here), index), root_, tree_.ranks);
  }

 private:
  Rank size_of(Rank here) const noexcept {
    Rank size = 0;
    std::memcpy(&size, notes_.data() + here * sizeof size, sizeof size);
    return size;
  }

  Tree tree_;
  Rank root_;
  std::span<const std::int8_t> notes_;
};

}  // namespace aqueduct::coll
