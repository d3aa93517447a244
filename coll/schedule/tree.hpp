#pragma once

#include <aqueduct/rank.hpp>

#include <cstdint>
#include <span>

namespace aqueduct::coll {

/// A tree over positions 0 to ranks - 1, rooted at 0. Every subtree is a contiguous range that begins at its own root.
/// For another root the caller shifts the positions. Nothing is stored: each answer takes O(log ranks) steps, O(ranks)
/// for radix 1, which is the chain.
///
/// `k_ary` cuts the positions after the root into `radix` ranges of nearly equal length. `k_nomial` gives the root
/// children at 1, 2, …, radix-1, radix, 2·radix, …: positions whose number has one digit that is not 0 in that base.
/// `fork` is for a mesh or torus of up to three dimensions: a chain of planes, from the first position of each plane a
/// chain of its rows, from the first of each row a chain of its positions. Every edge joins neighbours.
///
/// Source: Nishtala, Automatically Tuning Collective Communication for One-Sided Programming Models, 2009, section
///         5.1.2, with the corrections of our requirement D-1.
struct Tree {
  enum class Kind : std::uint8_t { k_ary, k_nomial, fork };
  Kind kind = Kind::k_nomial;
  std::uint32_t radix = 2;  ///< 1: a chain; not of `fork`
  Rank ranks = 1;
  std::uint32_t row = 1;   ///< of `fork`: positions in a row
  std::uint32_t rows = 1;  ///< of `fork`: rows in a plane

  /// The tree in which every position but 0 is a child of 0.
  static constexpr Tree flat(Rank ranks) noexcept { return {Kind::k_ary, ranks, ranks}; }
  /// The last plane and the last row may be shorter than the others.
  static constexpr Tree fork(std::uint32_t row, std::uint32_t rows, Rank ranks) noexcept {
    return {Kind::fork, 1, ranks, row, rows};
  }

  /// Requires: 0 < position < ranks.
  Rank parent(Rank position) const noexcept;
  /// The number of positions in the subtree of `position`, itself included.
  Rank subtree(Rank position) const noexcept;
  std::uint32_t children(Rank position) const noexcept;
  /// A child of `position`, in the order of sending: the first has the largest subtree, or one of the same size. Of a fork
  /// tree that does not fill its mesh it is the farthest.
  /// Requires: index < children(position).
  Rank child(Rank position, std::uint32_t index) const noexcept;
  /// The same for a caller that knows subtree(position), of a k-ary tree: in O(1).
  std::uint32_t children(Rank position, Rank subtree) const noexcept;
  Rank child(Rank position, Rank subtree, std::uint32_t index) const noexcept;
  /// Writes subtree(position) of all positions of a k-ary tree, in O(ranks). Requires: sizes.size() == ranks.
  void subtrees(std::span<Rank> sizes) const noexcept;
  /// The index of `position` among its parent's children. Requires: 0 < position < ranks.
  std::uint32_t index_of(Rank position) const noexcept;
  /// The number of edges from 0 to the farthest position.
  std::uint32_t depth() const noexcept;
  /// The most children that any position has: the root's.
  std::uint32_t most_children() const noexcept { return children(0); }
};

}  // namespace aqueduct::coll
