#pragma once

#include "coll/algorithms/steps.hpp"
#include "coll/schedule/groups_tree.hpp"
#include "coll/schedule/sized_tree.hpp"
#include "coll/schedule/team_tree.hpp"
#include "coll/schedule/tree.hpp"

namespace aqueduct::coll {

// A broadcast down a tree, in segments: a member passes a segment on as soon as it has arrived. The bytes arrive in
// scratch and are copied to the output there. The files of the family choose the tree.
//
// Each segment has its own counter: two puts to one peer may arrive in either order.
// Cost: P - 1 messages a segment; (P - 1)·bytes in all; depth of the tree.

/// The most segments, so that counters are few. Chosen.
inline constexpr std::uint32_t kMostSegments = 64;

Needs broadcast_tree_needs(const Shape& shape, std::uint32_t segments) noexcept;
std::uint32_t broadcast_tree_length(const Shape& shape, const Tree& tree, Rank position,
                                    std::uint32_t segments) noexcept;
Step broadcast_tree_step(const Shape& shape, const Tree& tree, Rank position, std::uint32_t index,
                         std::uint32_t segments) noexcept;
Cost broadcast_tree_cost(const Shape& shape, const Tree& tree, std::uint32_t segments) noexcept;

/// With notes of the tree.
Step broadcast_tree_step(const Shape& shape, const SizedTree& tree, Rank position, std::uint32_t index,
                         std::uint32_t segments) noexcept;

// The same down a tree by hosts or of the team, whose root is the operation's.
std::uint32_t broadcast_tree_length(const Shape& shape, const GroupsTree& tree, Rank position,
                                    std::uint32_t segments) noexcept;
Step broadcast_tree_step(const Shape& shape, const GroupsTree& tree, Rank position, std::uint32_t index,
                         std::uint32_t segments) noexcept;
Cost broadcast_tree_cost(const Shape& shape, const GroupsTree& tree, std::uint32_t segments) noexcept;
std::uint32_t broadcast_tree_length(const Shape& shape, const RootedTeamTree& tree, Rank position,
                                    std::uint32_t segments) noexcept;
Step broadcast_tree_step(const Shape& shape, const RootedTeamTree& tree, Rank position, std::uint32_t index,
                         std::uint32_t segments) noexcept;
Cost broadcast_tree_cost(const Shape& shape, const RootedTeamTree& tree, std::uint32_t segments) noexcept;

}  // namespace aqueduct::coll
