#include "tools/aqcheck/study_formulas.hpp"
#include "tools/aqcheck/study_rows.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

namespace aqueduct::aqcheck {

using coll::Operation;
using coll::Shape;

namespace {

// What goes over the tree of a team: P - 1 edges, whichever member is the root. Paths are found from the parents alone.

/// For each member the one before it on its way from the operation's root, and how many edges it is away.
struct Ways {
  std::vector<Rank> above;
  std::vector<std::uint32_t> edges;

  explicit Ways(const Shape& shape) : above(shape.ranks, kNoRank), edges(shape.ranks) {
    const auto touches = [&](Rank a, Rank b) {
      return shape.team_tree.of->parent(a) == b || shape.team_tree.of->parent(b) == a;
    };
    std::vector<Rank> reached{shape.root};
    for (std::size_t i = 0; i < reached.size(); ++i) {
      for (Rank other = 0; other < shape.ranks; ++other) {
        if (!touches(reached[i], other) || other == above[reached[i]]) continue;
        above[other] = reached[i];
        edges[other] = edges[reached[i]] + 1;
        reached.push_back(other);
      }
    }
  }
  std::uint32_t deepest() const { return *std::max_element(edges.begin(), edges.end()); }
  /// Whether the way from the root to this member goes through the other one.
  bool passes(Rank member, Rank through) const {
    while (member != through && member != kNoRank) member = above[member];
    return member == through;
  }
};

Studied broadcast_on_team_tree(const Shape& shape) {
  return {.messages = (shape.ranks - 1) * segments(shape, shape.parameters[0]),
          .bytes = (shape.ranks - 1) * shape.bytes,
          .depth = Ways(shape).deepest()};
}

Studied reduce_on_team_tree(const Shape& shape) {
  return {
      .messages = shape.ranks - 1, .bytes = (shape.ranks - 1) * shape.bytes, .depth = Ways(shape).deepest()};
}

Studied blocks_on_team_tree(const Shape& shape) {
  const Ways ways(shape);
  std::uint64_t edges = 0;
  for (const std::uint32_t one : ways.edges) edges += one;
  return {.messages = shape.ranks - 1, .bytes = edges * shape.bytes, .depth = ways.deepest()};
}

Studied scatter_on_team_tree(const Shape& shape) {
  Studied out = blocks_on_team_tree(shape);
  if (!shape.team_tree.of->in_team_order()) return out;
  // The child of the root whose subtree has both the last member and member 0.
  const Ways ways(shape);
  for (Rank child = 0; child < shape.ranks; ++child) {
    if (ways.above[child] == shape.root && ways.passes(0, child) && ways.passes(shape.ranks - 1, child))
      ++out.messages;
  }
  return out;
}

constexpr std::array kOnTeamTrees{
    StudyEntry{Operation::broadcast, "team-tree", broadcast_on_team_tree, kSame},
    StudyEntry{
        Operation::scatter, "team-tree", scatter_on_team_tree,
        "of a tree whose subtrees are ranges of the team, one may begin before member 0 and end behind it: "
        "two puts"},
    StudyEntry{Operation::gather, "team-tree", blocks_on_team_tree, kSame},
    StudyEntry{Operation::reduce, "team-tree", reduce_on_team_tree, kSame},
};

}  // namespace

std::span<const StudyEntry> rows_of_team_trees() noexcept { return kOnTeamTrees; }

}  // namespace aqueduct::aqcheck
