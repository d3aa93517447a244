#pragma once

#include <aqueduct/coll_types.hpp>

#include "coll/schedule/groups.hpp"
#include "coll/schedule/member_blocks.hpp"
#include "coll/schedule/team_tree.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace aqueduct::coll {

using Operation = aqueduct::Collective;
using aqueduct::Sync;

/// Whose buffers a member can name: `single`, those of all members; `local`, only its own. Algorithms also see `announced`:
/// those of a peer, after that peer has told where they are (announced.hpp).
enum class Addresses : std::uint8_t { single, local, announced };

using Order = aqueduct::ReduceOrder;

struct AddedAlgorithm;
/// Null: the algorithm is the library's. Two views are equal: whoever compares shapes knows the algorithm.
struct AddedView {
  const AddedAlgorithm* of = nullptr;

  friend constexpr bool operator==(const AddedView&, const AddedView&) noexcept { return true; }
};

/// What one collective operation is to do, the same on all members. A schedule is a pure function of it and of the
/// member's position.
///
/// Units: a *block* is the unit of the operation: what the root of a broadcast sends, what a member contributes to a
///        gather or reduction, what one member has for another in an all_to_all.
struct Shape {
  Operation operation = Operation::barrier;
  Sync in = Sync::all;
  Sync out = Sync::all;
  Addresses addresses = Addresses::local;
  Order order = Order::any;
  bool commutative = true;
  Rank ranks = 1;             ///< members of the team
  Rank root = 0;              ///< position of the root; 0 if the operation has none
  std::uint32_t element = 1;  ///< bytes of an element: no step of a reduction cuts one
  std::uint64_t bytes = 0;    ///< of one block; a multiple of `element`
  /// Distance of two blocks in a buffer that has several. More than `bytes` if this is a piece of a larger operation.
  std::uint64_t pitch = 0;
  /// Values of the algorithm's parameters, in the algorithm's order.
  std::array<std::uint32_t, 3> parameters{};
  /// Of an operation whose blocks differ: this member's view of them. Not the same on all members. No blocks: all have
  /// `bytes` bytes, `pitch` apart, and a permute sends to the next member.
  BlocksView blocks{};
  /// The members by hosts, for an algorithm that goes by them (Algorithm::hosts); null for the others.
  GroupsView groups{};
  /// The tree of the team, for an algorithm that goes by it (Algorithm::team_tree); null for the others.
  TeamTreeView team_tree{};
  /// The algorithm, if the program has added it (added.hpp): its functions find the program's there.
  AddedView added{};
  /// Members share processors, so what a signal costs them counts, and not how many rounds there are: see Pass.
  bool few_signals = false;
  // How a reduction combines, for a conduit that does so itself. In calls, said only if the team has such a conduit.
  aqueduct::ReduceOp op = aqueduct::ReduceOp::sum;
  aqueduct::ElementType type = aqueduct::ElementType::bytes;

  friend bool operator==(const Shape&, const Shape&) = default;
};

/// The number of blocks in the input buffer of the member at `position`.
constexpr Rank blocks_in(const Shape& shape, Rank position) noexcept {
  switch (shape.operation) {
    case Operation::barrier: return 0;
    case Operation::broadcast: return position == shape.root ? 1 : 0;
    case Operation::scatter:
    case Operation::scatter_v: return position == shape.root ? shape.ranks : 0;
    case Operation::all_to_all:
    case Operation::all_to_all_v:
    case Operation::reduce_scatter: return shape.ranks;
    default: return 1;
  }
}

/// The number of blocks in the output buffer of the member at `position`. Member 0 has one in an exscan, but there is
/// nothing before it: its output is not written.
constexpr Rank blocks_out(const Shape& shape, Rank position) noexcept {
  switch (shape.operation) {
    case Operation::barrier: return 0;
    case Operation::gather:
    case Operation::gather_v: return position == shape.root ? shape.ranks : 0;
    case Operation::reduce: return position == shape.root ? 1 : 0;
    case Operation::all_gather:
    case Operation::all_gather_v:
    case Operation::all_to_all:
    case Operation::all_to_all_v: return shape.ranks;
    default: return 1;
  }
}

/// Whether one member is the root of the operation.
constexpr bool has_root(Operation operation) noexcept {
  return operation == Operation::broadcast || operation == Operation::scatter ||
         operation == Operation::gather || operation == Operation::reduce ||
         operation == Operation::scatter_v || operation == Operation::gather_v;
}

/// Whether the blocks of the operation may have different lengths.
constexpr bool has_counts(Operation operation) noexcept {
  return operation >= Operation::scatter_v && operation <= Operation::all_to_all_v;
}

/// Whether the operation combines elements.
constexpr bool reduces(Operation operation) noexcept {
  return operation == Operation::reduce || operation == Operation::all_reduce ||
         operation == Operation::reduce_scatter || operation == Operation::scan ||
         operation == Operation::exscan;
}

/// Whether the operation with another root is the same one, with all members shifted. A reduce in team order is not: its
/// first member is member 0, whoever the root is. Nor is one that goes by hosts, or by
/// a tree of the team, nor by an algorithm of the program's, which promises nothing.
constexpr bool shifts_with_root(const Shape& shape) noexcept {
  if (shape.groups.of != nullptr || shape.team_tree.of != nullptr || shape.added.of != nullptr) return false;
  return shape.operation != Operation::reduce || (shape.commutative && shape.order != Order::exact);
}

}  // namespace aqueduct::coll
