#pragma once

#include <aqueduct/rank.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace aqueduct::coll {

/// Two cache lines, because processors fetch lines in pairs.
inline constexpr std::size_t kBoardLine = 128;
/// Bytes of a payload that travels beside its number.
inline constexpr std::uint64_t kInlinePayload = 112;
/// A member's own lines. A member whose part does not depend on others, such as the root of a broadcast, runs ahead by so many
/// calls.
inline constexpr std::uint32_t kMostSlots = 64;
/// The same where ranks share processors: they switch less often. Measured on Zen 5, 8 ranks on 2 processors: a broadcast of 8
/// bytes in a row takes 340 ns with 64 lines, 246 with 256, and no less with 1024.
inline constexpr std::uint32_t kMostSlotsOfCrowded = 256;
/// Slots of what is longer than a line, and of what others write to a member.
inline constexpr std::uint32_t kMostNarrow = 8;
/// The most bytes of a payload that is copied into a slot of its own. Measured: what is in no segment goes through slots in pieces, and
/// each piece is a wait of all for all. With 8 ranks on 2 processors an all-to-all of 64 KiB takes 580 us in slots of 32 KiB and
/// 135 in these, with 2 ranks 7.7 and 5.5.
inline constexpr std::uint32_t kMostBulk = 262144;

/// What one member says in one movement. A payload of up to 48 bytes shares a line of 64 bytes with its number: who sees the
/// number has the payload.
struct alignas(kBoardLine) BoardSlot {
  std::atomic<std::uint64_t> number;  ///< of the movement; only rises. Written last
  std::atomic<std::uint32_t> mark;    ///< the fingerprint of the call
  std::atomic<std::uint32_t> who;     ///< the member in whose bulk slot a longer payload is
  alignas(16) std::byte payload[kInlinePayload];
};
static_assert(sizeof(BoardSlot) == kBoardLine);
/// Bytes of a payload in the same 64 bytes as its number.
inline constexpr std::uint64_t kPayloadOfFirstLine = 48;
static_assert(offsetof(BoardSlot, payload) + kPayloadOfFirstLine == kBoardLine / 2);

/// What a member says of itself. Written by it alone; others look when they must.
struct alignas(kBoardLine) BoardHead {
  std::atomic<std::uint64_t> done;  ///< it reads nothing of movements up to this one any more
  std::atomic<std::uint64_t>
      said;  ///< its latest call of the team: the number's lower half, and the fingerprint
  /// Not 0: the number of the first movement of the operation that it has given up, whose buffers are the program's again.
  std::atomic<std::uint64_t> left;
  /// Where it ran when it began its latest call: the number of the processor, and 1; 0: nobody knows. Where members share
  /// processors.
  std::atomic<std::uint64_t> processor;
  /// How far its preparations for copies between processes have come (ProcessCopies), and how others reach its memory then.
  std::atomic<std::uint64_t> copies;
  std::uint64_t key_bytes;
  std::array<std::byte, 80> key;
};

/// Counters that others raise. Each raise adds 1, and above that the mark of its call, so that a sum tells whether all
/// have made the same call.
struct alignas(kBoardLine) BoardCounts {
  std::atomic<std::uint64_t> pushed[kMostNarrow];  ///< by children of a tree
  std::atomic<std::uint64_t> last[kMostNarrow];    ///< by all members; only of member 0
};

/// The tiles of a large operation that members claim; only member 0's counts. Each word has the operation's number above
/// kTileBits, and below it a number of tiles. Whoever first needs it for a later operation sets it anew.
struct alignas(kBoardLine) BoardTiles {
  std::atomic<std::uint64_t> claimed;
  std::atomic<std::uint64_t>
      short_of_room;  ///< not of tiles: how many members wait until others have read what they have written
  alignas(64) std::atomic<std::uint64_t> done;
};
inline constexpr std::uint32_t kTileBits = 20;
inline constexpr std::uint64_t kMostTiles = std::uint64_t{1} << (kTileBits - 1);
static_assert(sizeof(BoardHead) == kBoardLine && sizeof(BoardCounts) == kBoardLine &&
              sizeof(BoardTiles) == kBoardLine);

/// Where a member's buffer is, for the other members.
struct BufferNote {
  /// `nowhere`: no buffer, or one that others cannot reach. `address`: all members are in one process.
  /// `of_process`: the system copies it for them, and `at` is an address of its owner's process.
  enum Kind : std::uint32_t { nowhere, in_segment, address, of_process };
  std::uint64_t at = 0;  ///< the offset in the member's part, or the address
  std::uint32_t segment = 0;
  Kind kind = nowhere;

  /// Others reach it by loads and stores.
  bool mapped() const noexcept { return kind == in_segment || kind == address; }
  /// Others can read it.
  bool reached() const noexcept { return kind != nowhere; }
};
/// What a member publishes before others access its buffers: the payload of a movement.
struct BoardNotes {
  BufferNote in;
  BufferNote out;
};
static_assert(sizeof(BoardNotes) <= kInlinePayload);

/// What a member tells those that read from it in a broadcast by domains.
struct BoardOffer {
  BufferNote note{};        ///< where the block is; nowhere: it goes through the board
  Rank owner = kNoRank;     ///< whose memory that is
  std::uint32_t whole = 0;  ///< 1: all of the block is there; 0: the owner says which pieces are
};
static_assert(sizeof(BoardOffer) <= kInlinePayload);

/// How much of a board each member has. The same on all members of a team.
///
/// In order: BoardHead, BoardCounts, BoardTiles, `slots` BoardSlots that the member writes, `narrow` that others write to it (a
/// parent in a tree, or in member 0's the last to arrive), and as many times `bulk` bytes for its own payloads.
struct BoardRoom {
  std::uint32_t slots = 0;  ///< a power of two; 0: the team has no board
  std::uint32_t narrow =
      0;                   ///< slots of all that is not a member's own line: a power of two, at most `slots`
  std::uint32_t bulk = 0;  ///< bytes of a payload that does not fit into a line; 0: no such payloads

  constexpr std::uint64_t own_at(std::uint64_t slot) const noexcept { return (3 + slot) * kBoardLine; }
  constexpr std::uint64_t inbox_at(std::uint64_t slot) const noexcept { return own_at(slots + slot); }
  constexpr std::uint64_t bulk_at(std::uint64_t slot) const noexcept {
    return own_at(std::uint64_t{slots} + narrow) + slot * bulk;
  }
  constexpr std::uint64_t bytes() const noexcept { return slots == 0 ? 0 : bulk_at(narrow); }
  /// The most bytes of one member's payload.
  constexpr std::uint64_t payload() const noexcept {
    return slots == 0 ? 0 : bulk > kInlinePayload ? bulk : kInlinePayload;
  }

  friend bool operator==(const BoardRoom&, const BoardRoom&) = default;
};

/// A board for small payloads.
inline constexpr BoardRoom kLeanBoard{.slots = 2, .narrow = 2, .bulk = 0};
/// What a board takes of a place whose beginning is at a multiple of 64 bytes.
constexpr std::uint64_t taken_by(const BoardRoom& room) noexcept {
  return room.slots == 0 ? 0 : room.bytes() + kBoardLine / 2;
}
/// The most bytes that a board takes of a place of `bytes` bytes: a quarter, of a large one half (both chosen), or a lean board if
/// that is larger.
constexpr std::uint64_t most_of_board(std::uint64_t bytes) noexcept {
  constexpr std::uint64_t kLarge = 4 << 20;
  const std::uint64_t share = bytes < kLarge ? bytes / 4 : bytes / 2;
  return share < taken_by(kLeanBoard) ? taken_by(kLeanBoard) : share;
}
/// The board that a team has in `bytes` bytes of each member, of which it needs `least` for other things. `crowded`: members
/// share processors. A pure function, so that all members have the same.
constexpr BoardRoom board_within(std::uint64_t bytes, std::uint64_t least, bool crowded) noexcept {
  if (bytes < least + taken_by(kLeanBoard)) return {};
  const auto fits = [&](const BoardRoom& room) {
    return taken_by(room) <= most_of_board(bytes) && bytes - taken_by(room) >= least;
  };
  for (std::uint32_t bulk = kMostBulk; bulk >= 128; bulk /= 2) {
    BoardRoom rich{.slots = kMostNarrow, .narrow = kMostNarrow, .bulk = bulk};
    if (!fits(rich)) continue;
    const std::uint32_t most = crowded ? kMostSlotsOfCrowded : kMostSlots;
    for (BoardRoom more = rich; fits(more) && more.slots <= most; more.slots *= 2) rich = more;
    return rich;
  }
  return kLeanBoard;
}

}  // namespace aqueduct::coll
