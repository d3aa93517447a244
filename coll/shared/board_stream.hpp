#pragma once

#include "coll/shared/board_of.hpp"

// Bytes that go through the board, copied in and out again: in pieces, each of them a movement of its own.

namespace aqueduct::coll {

/// The part of a piece that a member combines, if pieces go through the board twice: where it begins.
inline std::uint64_t part_of_piece(const BoardPlan& plan, std::uint64_t bytes, Rank member) noexcept {
  const std::uint64_t units = (bytes + plan.unit - 1) / plan.unit;
  return std::min(bytes, units * member / plan.ranks * plan.unit);
}

/// A piece on its way through the board.
struct BoardPiece {
  std::uint64_t offset = 0;  ///< in each block
  std::uint64_t bytes = 0;   ///< of each block
  bool results = false;      ///< what members have combined, of a piece that goes twice
};
inline BoardPiece piece_of(const BoardPlan& plan, std::uint64_t index) noexcept {
  BoardPiece piece;
  if (plan.meets) --index;
  piece.results = plan.twice && index % 2 == 1;
  piece.offset = (plan.twice ? index / 2 : index) * plan.piece;
  piece.bytes = std::min(plan.piece, plan.bytes - piece.offset);
  return piece;
}

template <class Access>
void BoardOf<Access>::fill_piece(const BoardOp& op, const BoardPlan& plan, const BoardPiece& piece) {
  const std::uint64_t blocks = bytes_in(plan) == plan.bytes ? 1 : ranks_;
  std::byte* const to = place_of_piece(me_, op.number());
  access_.writes(to, blocks * piece.bytes);
  if (piece.results) {
    const std::uint64_t begin = part_of_piece(plan, piece.bytes, me_);
    const std::uint64_t end = part_of_piece(plan, piece.bytes, me_ + 1);
    access_.have_staged(end - begin);
    return give_long(to, op.out + piece.offset + begin, end - begin);
  }
  access_.have_staged(blocks * piece.bytes);
  for (std::uint64_t i = 0; i < blocks; ++i)
    give_long(to + i * piece.bytes, op.in + i * plan.bytes + piece.offset, piece.bytes);
}

/// Takes a piece that a member has published: the one at which the operation has looked last.
template <class Access>
void BoardOf<Access>::take_piece(const BoardOp& op, const BoardPlan& plan, const BoardPiece& piece) {
  const Rank from = op.at;
  const bool blocks = bytes_in(plan) != plan.bytes;
  const std::byte* its = nullptr;
  if (from != me_) {
    its = place_of_piece(from, op.number());
    access_.reads(its, piece.bytes);
    if (blocks) its += me_ * piece.bytes;
  }
  std::byte* const to = op.out + piece.offset;
  if (piece.results) {
    const std::uint64_t begin = part_of_piece(plan, piece.bytes, from);
    if (from != me_) copy_from(from, to + begin, its, part_of_piece(plan, piece.bytes, from + 1) - begin);
    return;
  }
  if (reduces(plan.operation)) {
    const std::uint64_t begin = plan.twice ? part_of_piece(plan, piece.bytes, me_) : 0;
    const std::uint64_t end = plan.twice ? part_of_piece(plan, piece.bytes, me_ + 1) : piece.bytes;
    if (from != me_) access_.have_read(from, end - begin);
    sources_[from] = (from == me_ ? op.in + (blocks ? me_ * plan.bytes : 0) + piece.offset : its) + begin;
    if (from + 1 == ranks_) fold_sources(op, to + begin, ranks_, end - begin);
    return;
  }
  if (from == me_) return;
  copy_from(from, to + (bytes_out(plan) != plan.bytes ? from * plan.bytes : 0), its, piece.bytes);
}

template <class Access>
bool BoardOf<Access>::go_through_board(BoardOp& op, const BoardPlan& plan) {
  const bool up = plan.operation == Operation::gather || plan.operation == Operation::reduce;
  while (true) {
    const BoardPiece piece = piece_of(plan, op.piece);
    if (!op.shown && gives(plan, me_)) {
      if (!may_publish(op, room_.payload())) return false;
      fill_piece(op, plan, piece);
      publish(op, room_.payload(), up ? plan.root : kNoRank);
      if (up)
        access_.wake(plan.root);
      else
        access_.wake_all();
      op.shown = true;
    }
    for (; takes(plan) && op.at < ranks_; ++op.at) {
      if (op.at != me_) {
        if (!gives(plan, op.at)) continue;
        if (!look(op, op.at)) return false;
      }
      take_piece(op, plan, piece);
    }
    if (op.piece + 1 == plan.through) {
      op.piece = plan.pieces - 1;
      return true;
    }
    next_piece(op);
  }
}

}  // namespace aqueduct::coll
