#pragma once

#include "coll/algorithms/steps.hpp"
#include "coll/schedule/team_tree.hpp"

namespace aqueduct::coll {

// Scatter and gather over the tree of the team. A member has the blocks of its subtree in scratch, in the order of their
// places in the ring (TeamTree), from the first place of the subtree on. Its children's subtrees are ranges of that, so one
// put carries each, whatever the members' order.
//
// The root's own buffer is in team order. If places are positions, it is used as it is. If not, its blocks are copied
// between that buffer and scratch, a copy for each run of members that follow one another.

/// What both share of an operation with this root.
struct TeamTreeBlocks {
  const TeamTree& places;
  RootedTeamTree tree;
  Rank root;
  Rank at_root;  ///< the root's place
  Rank ranks;
  std::uint64_t bytes;
  std::uint64_t pitch;

  explicit TeamTreeBlocks(const Shape& shape) noexcept;

  /// The blocks that are sent over edges, each counted once an edge.
  std::uint64_t blocks_sent() const noexcept;
  /// Blocks of the others, as the root copies them: as many copies.
  std::uint32_t pieces() const noexcept {
    return places.runs() - 1 + (first_is_empty() ? 0 : 1) + (last_is_empty() ? 0 : 1);
  }
  /// One of these, counted from the root's place on: the first member, how many follow it, and how far their places are
  /// behind the root's.
  struct Piece {
    Rank member;
    Rank count;
    Rank behind;
  };
  Piece piece(std::uint32_t index) const noexcept;

 private:
  // The run with the root is cut there. What is behind the root is the first piece, and what is before it the last one.
  bool first_is_empty() const noexcept { return at_root + 1 == places.run_end(run_); }
  bool last_is_empty() const noexcept { return at_root == places.run_begin(run_); }

  std::uint32_t run_;
};

}  // namespace aqueduct::coll
