#pragma once

#include "coll/shared/board_of.hpp"

#include <algorithm>

// Large reductions up a tree (requirement H-13), strip by strip. A member that has no others below it moves nothing: its parent
// reads its input where it lies. A member between combines a strip of its own input and of all below it in one pass, in a slot of
// the board. The root does that in its output. The results of an all-reduce go down again: each member copies them from one above
// it, as soon as that has them.
//
// Pieces: first where buffers are, then the strips up, then those down. In the last one members wait for those that read theirs.

namespace aqueduct::coll {

/// Whether a member's input is all that its parent reads of it.
template <class Access>
bool BoardOf<Access>::is_read_in_place(const BoardOp& op, const BoardPlan& plan) const noexcept {
  return plan.parent != kNoRank && plan.children.empty() && op.notes.in.mapped();
}

/// Tells the parent where the input is, if it reads that, and the readers where the output is, if they reach it. Learns the same.
template <class Access>
bool BoardOf<Access>::tell_the_tree(BoardOp& op, const BoardPlan& plan) {
  if (!op.shown && (plan.parent != kNoRank || !plan.readers.empty())) {
    if (!may_publish(op, 0)) return false;
    tell(op, {.in = is_read_in_place(op, plan) ? op.notes.in : BufferNote{},
              .out = op.notes.out.mapped() ? op.notes.out : BufferNote{}});
    publish(op, 0);
    if (plan.parent != kNoRank) access_.wake(plan.parent);
    for (const Rank reader : plan.readers) access_.wake(reader);
    op.shown = true;
  }
  for (; op.at < plan.children.size(); ++op.at) {
    const Rank child = plan.children[op.at];
    if (!look(op, child)) return false;
    learn(op, child);
    if (!reach(child, notes_[child].in, plan.bytes, places_[child].in)) return false;
  }
  if (plan.source != kNoRank) {
    if (!look(op, plan.source)) return false;
    learn(op, plan.source);
    if (!reach(plan.source, notes_[plan.source].out, plan.bytes, places_[plan.source].out)) return false;
  }
  return true;
}

/// Combines one strip: this member's input with what its children have. The sum goes into this member's slot, where its parent reads it;
/// the root stores it in its output.
template <class Access>
bool BoardOf<Access>::pass_up(BoardOp& op, const BoardPlan& plan, std::uint64_t begin, std::uint64_t bytes) {
  const bool is_root = plan.parent == kNoRank;
  for (; op.at < plan.children.size(); ++op.at) {
    const Rank child = plan.children[op.at];
    if (!notes_[child].in.mapped() && !look(op, child)) return false;
  }
  if (!is_root && !may_publish(op, room_.payload())) return false;
  std::byte* const to = is_root ? op.out + begin : place_of_piece(me_, op.number());
  access_.writes(to, bytes);
  if (!is_root) access_.have_staged(bytes);
  if (plan.children.empty()) {
    give_long(to, op.in + begin, bytes);
  } else {
    sources_[0] = op.in + begin;
    for (std::size_t i = 0; i < plan.children.size(); ++i) {
      const Rank child = plan.children[i];
      const bool in_place = notes_[child].in.mapped();
      const std::byte* const its =
          in_place ? places_[child].in.at + begin : place_of_piece(child, op.number());
      if (!in_place) access_.reads(its, bytes);
      sources_[i + 1] = its;
      access_.have_read(child, bytes);
    }
    fold_sources(op, to, plan.children.size() + 1, bytes);
  }
  if (is_root) return true;
  publish(op, room_.payload(), plan.parent);
  access_.wake(plan.parent);
  return true;
}

/// Takes a strip of the result, and passes it on: in the output, or in a slot if nobody else reaches that.
template <class Access>
bool BoardOf<Access>::pass_result_on(BoardOp& op, const BoardPlan& plan, std::uint64_t begin,
                                     std::uint64_t bytes) {
  std::byte* const out = op.out + begin;
  if (op.at == 0 && plan.source != kNoRank) {
    if (!look(op, plan.source)) return false;
    const std::byte* const its = notes_[plan.source].out.mapped() ? places_[plan.source].out.at + begin
                                                                  : place_of_piece(plan.source, op.number());
    access_.reads(its, bytes);
    copy_from(plan.source, out, its, bytes);
    op.at = 1;
  }
  if (plan.readers.empty()) return true;
  const bool in_slot = !op.notes.out.mapped();
  if (!may_publish(op, in_slot ? room_.payload() : 0)) return false;
  if (in_slot) {
    std::byte* const to = place_of_piece(me_, op.number());
    access_.writes(to, bytes);
    give_long(to, out, bytes);
    access_.have_staged(bytes);
  }
  publish(op, in_slot ? room_.payload() : 0);
  for (const Rank reader : plan.readers) access_.wake(reader);
  return true;
}

template <class Access>
bool BoardOf<Access>::reduce_up_tree(BoardOp& op, const BoardPlan& plan) {
  if (op.piece == 0) {
    if (!tell_the_tree(op, plan)) return false;
    // It has no part in the strips up.
    if (is_read_in_place(op, plan)) op.piece = plan.strips;
    next_piece(op);
  }
  while (op.piece + 1 < plan.pieces) {
    const bool up = op.piece <= plan.strips;
    const std::uint64_t begin = (op.piece - 1) % plan.strips * plan.strip;
    const std::uint64_t bytes = std::min(plan.strip, plan.bytes - begin);
    if (up ? !pass_up(op, plan, begin, bytes) : !pass_result_on(op, plan, begin, bytes)) return false;
    next_piece(op);
  }
  // Who has the result of an all-reduce knows that all inputs have been read.
  const std::uint64_t strips_end = op.number() - 1;
  const bool all = plan.operation == Operation::all_reduce;
  const auto nobody_reads = [&] {
    if (!all) return !is_read_in_place(op, plan) || is_done(plan.parent, strips_end);
    return !op.notes.out.mapped() ||
           std::ranges::all_of(plan.readers, [&](Rank one) { return is_done(one, strips_end); });
  };
  return has_room(op, nobody_reads) && !anybody_left(op);
}

}  // namespace aqueduct::coll
