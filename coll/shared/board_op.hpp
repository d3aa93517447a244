#pragma once

#include "coll/shared/board_plan.hpp"

#include <cstddef>
#include <cstdint>

namespace aqueduct::coll {

/// An operation of a board on one member, as far as it has come.
struct BoardOp {
  const BoardPlan* plan = nullptr;
  const BoardCombiner* combiner = nullptr;
  const std::byte* in = nullptr;
  std::byte* out = nullptr;
  std::uint64_t first = 0;  ///< the number of its first movement
  std::uint32_t mark = 0;
  std::uint32_t call = 0;      ///< the lower half of the call's number
  std::uint32_t movement = 0;  ///< the one under way
  std::uint32_t at = 0;        ///< how far it has come there
  bool shown = false;          ///< this member has published its part
  bool is_last = false;        ///< in a `last`: this member was it
  bool short_of_room = false;  ///< it waits until others have read what this member has written
  // Of a large operation.
  BoardNotes notes{};            ///< of this member's buffers
  std::uint64_t piece = 0;       ///< the one under way, of those that go through the board
  std::uint64_t tile = 0;        ///< how far this member has come in its direct work
  std::uint64_t tile_bytes = 0;  ///< of one tile
  std::uint64_t claimed = 0;     ///< tiles that it has combined, and not told yet
  bool by_domains = false;       ///< it goes by domains of memory
  BoardOffer offer{};            ///< of a broadcast down a tree: whose bytes this member reads
  /// How bytes move: decided when the buffers are known, alike on all members.
  enum class Way : std::uint8_t { unknown, direct, push, through_board } way = Way::unknown;

  std::uint64_t number() const noexcept { return first + movement + piece; }
  /// Of a block.
  std::uint64_t tiles() const noexcept { return (plan->bytes + tile_bytes - 1) / tile_bytes; }
  std::uint64_t last_number() const noexcept { return first + plan->movements + plan->pieces - 2; }
};

}  // namespace aqueduct::coll
