#pragma once

#include "coll/schedule/algorithm.hpp"
#include "coll/shared/board_domains.hpp"
#include "coll/shared/board_lines.hpp"
#include "coll/shared/tile_sizes.hpp"
#include "kernels/reduce.hpp"

#include <array>
#include <cstdint>
#include <vector>

namespace aqueduct::coll {

/// One movement of an operation on a board. All members take part in each movement, in the same order, and each has a
/// number of its own: a member's slot of a movement is that of the number modulo the number of slots.
///
/// up, down            to and from the root, in one step
/// exchange            everybody publishes, and reads what the others have published
/// meet                of two members: the root waits for the other one, publishes, and waits until that has ended the movement
/// tree_up, tree_down  along the edges of a k-nomial tree
/// last                everybody publishes and counts itself; the last one combines, in team order, and says so
/// round               a round of a dissemination: two members exchange what they have; `level` is its number
/// help, tell          before the rounds, and behind them: the part of members that others take part for
/// chain               from each member to the next, which combines
/// work                of a large operation: members access each other's buffers; `level` is its stage (board_large.hpp)
/// collect, cross, spread  of a short all-gather by domains: inside, between first members, inside (board_lines_by_domains.hpp)
/// partners, mates     each says that its stage is over, and waits for those whose part it needs next (board_by_domains.hpp)
enum class Move : std::uint8_t {
  up,
  down,
  exchange,
  meet,
  tree_up,
  tree_down,
  last,
  round,
  help,
  tell,
  chain,
  work,
  partners,
  mates,
  collect,
  cross,
  spread
};

struct Movement {
  Move move = Move::exchange;
  bool data = false;       ///< carries the payload; else it only synchronises
  bool notes = false;      ///< carries BoardNotes in place of a payload: of up, down and exchange
  std::uint8_t level = 0;  ///< of a round
  /// When this member has ended it, it knows that all have begun the movement that is this many before.
  std::uint8_t heard = kNothing;
  static constexpr std::uint8_t kNothing = 0xff;
};

/// What the calls of one shape do on a team's board: computed once, and kept.
struct BoardPlan {
  static constexpr std::size_t kMostMovements = 48;

  Operation operation = Operation::barrier;
  Rank ranks = 1;
  Rank me = 0;
  Rank root = 0;
  std::uint64_t bytes = 0;    ///< of a block, as it travels
  std::uint64_t count = 0;    ///< elements of a block
  std::uint64_t payload = 0;  ///< bytes that a member publishes
  bool push_up = false;
  bool push_down = false;
  std::uint32_t movements = 0;
  std::array<Movement, kMostMovements> movement{};
  // Of a large operation.
  BoardMethod method = BoardMethod::none;
  /// Before the first piece, with a number more: members tell the root where their outputs are, or the root where its input is.
  bool meets = false;
  bool twice = false;  ///< and each piece twice: first what members have, then what they have combined
  std::uint32_t element = 1;
  /// The most pieces in which an operation goes; each has a number of its own. Set by count_pieces.
  std::uint64_t pieces = 1;
  std::uint64_t through = 1;      ///< pieces, if bytes go through the board; with the first one of `meets`
  std::uint64_t piece = 0;        ///< bytes of each block in one of them
  std::uint64_t unit = 1;         ///< bytes of which tiles are multiples
  std::uint64_t tile = 0;         ///< bytes of which a member has the care, as one of several
  std::uint64_t at_once = 0;      ///< bytes of a tile that it combines before it copies the result
  std::uint64_t copied_tile = 0;  ///< the same, if the system has to copy inputs out of other processes
  BoardDomains
      domains{};  ///< of an operation that goes by them, short or large, but for trees and broadcasts
  /// Of a reduce or a reduce-scatter by domains: bytes of a tile or of a block that go through the board at once. Up a tree: of a
  /// block, which members combine at once.
  std::uint64_t strip = 0;
  std::uint64_t strips = 1;    ///< of a tile or of a block
  RoundsPlace in_rounds{};     ///< of a dissemination
  Rank parent = kNoRank;       ///< in the tree; kNoRank: the root, or no tree
  Rank source = kNoRank;       ///< whose result this member copies: all-reduces up a tree, but for the root
  std::vector<Rank> children;  ///< in the order of their subtrees
  std::vector<Rank> readers;   ///< who copy this member's result; all are below it in the tree, too
};

/// How elements are combined and converted: as the engine's Combiner.
struct BoardCombiner {
  void (*combine)(void* to, const void* left, const void* right, std::size_t count, void* context) = nullptr;
  void* context = nullptr;
  void (*widen)(void* to, const void* from, std::size_t count) = nullptr;  ///< null: as they are
  void (*narrow)(void* to, const void* from, std::size_t count) = nullptr;
  kernels::Fold fold{};  ///< of a large operation: the elements as they are in the user's buffers
};

/// The bytes of a member that all or some of the others look at.
constexpr std::uint64_t payload_of(const Shape& shape) noexcept {
  const bool all = shape.operation == Operation::scatter || shape.operation == Operation::all_to_all ||
                   shape.operation == Operation::reduce_scatter;
  return all ? shape.bytes * shape.ranks : shape.bytes;
}

/// The most bytes that a member publishes at once.
constexpr std::uint64_t most_published(BoardMethod method, const Shape& shape) noexcept {
  return method == BoardMethod::domain_lines ? shape.bytes * shape.ranks : payload_of(shape);
}

/// Whether blocks may be longer than a slot: members access each other's buffers, or bytes go through the board in pieces.
constexpr bool is_large(BoardMethod method) noexcept { return method >= BoardMethod::mapped; }

/// Whether each member of a large broadcast copies from its parent in a tree.
constexpr bool goes_down_a_tree(BoardMethod method) noexcept {
  return method == BoardMethod::domains || method == BoardMethod::large_tree;
}

/// Whether each member of a large reduction combines what those below it have, for its parent in a tree.
constexpr bool goes_up_a_tree(BoardMethod method, Operation operation) noexcept {
  return method == BoardMethod::large_tree && reduces(operation);
}

/// Whether a plan depends on where the members are.
constexpr bool keeps_to_domains(BoardMethod method) noexcept {
  return method == BoardMethod::tree || method == BoardMethod::dissemination ||
         method == BoardMethod::domain_lines || goes_down_a_tree(method) ||
         method == BoardMethod::domain_blocks || method == BoardMethod::domain_tiles;
}

/// Whether an algorithm cuts blocks by TileSizes.
constexpr bool has_tiles(BoardMethod method) noexcept {
  return method == BoardMethod::tiles || method == BoardMethod::cyclic_tiles ||
         method == BoardMethod::claims || method == BoardMethod::domain_tiles || goes_down_a_tree(method);
}

/// Whose bytes an operation takes, and who takes them.
constexpr bool gives(const BoardPlan& plan, Rank member) noexcept {
  switch (plan.operation) {
    case Operation::broadcast:
    case Operation::scatter: return member == plan.root;
    case Operation::gather:
    case Operation::reduce: return member != plan.root;
    default: return true;
  }
}
constexpr bool takes(const BoardPlan& plan) noexcept {
  switch (plan.operation) {
    case Operation::broadcast:
    case Operation::scatter: return plan.me != plan.root;
    case Operation::gather:
    case Operation::reduce: return plan.me == plan.root;
    default: return true;
  }
}
/// Bytes of the buffers of a member that has them.
constexpr std::uint64_t bytes_in(const BoardPlan& plan) noexcept {
  const bool all = plan.operation == Operation::scatter || plan.operation == Operation::all_to_all ||
                   plan.operation == Operation::reduce_scatter;
  return all ? plan.ranks * plan.bytes : plan.bytes;
}
constexpr std::uint64_t bytes_out(const BoardPlan& plan) noexcept {
  const bool all = plan.operation == Operation::gather || plan.operation == Operation::all_gather ||
                   plan.operation == Operation::all_to_all;
  return all ? plan.ranks * plan.bytes : plan.bytes;
}

/// What a large operation needs of its shape: bytes of each block in one piece, if bytes go through the board. 0: the board
/// is too small.
std::uint64_t piece_through(const Shape& shape, const BoardRoom& room) noexcept;

/// Makes the plan. Requires: the algorithm is one of a board and does not refuse the shape, and most_published() fits.
/// `placement`: where the members are; null if that is not known, or if partial results must not be rounded. `sizes`: of an
/// algorithm for which has_tiles().
/// May throw std::bad_alloc.
void make_plan(BoardPlan& plan, const Algorithm& algorithm, const Shape& shape, Rank position,
               const BoardRoom& room, const topology::Placement* placement = nullptr,
               const TileSizes& sizes = {});
/// Sets the numbers of pieces by their lengths.
void count_pieces(BoardPlan& plan) noexcept;

}  // namespace aqueduct::coll
