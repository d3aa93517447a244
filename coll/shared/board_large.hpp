#pragma once

#include "coll/shared/board_of.hpp"

// Large operations: members tell each other where their buffers are (board_buffers.hpp), and then move bytes, or combine them
// (board_tiles.hpp), without a copy in between. Inputs that are not mapped are written into outputs by their owner, or copied by
// the system; if neither can be, bytes go through the board in pieces (board_stream.hpp).

namespace aqueduct::coll {

/// Decides how bytes move, and begins. False: has to wait.
template <class Access>
bool BoardOf<Access>::begin_work(BoardOp& op, const BoardPlan& plan) {
  using Way = BoardOp::Way;
  Way way = plan.method == BoardMethod::stream ? Way::through_board : way_of(plan);
  // Outputs that all map are read, too.
  if (plan.method == BoardMethod::domain_blocks && plan.domains.count != 0 && can_go_by_domains(plan))
    way = Way::direct;
  if (plan.meets && !notes_[plan.root].in.mapped() && op.piece == 0 && !meet(op, plan, way)) return false;
  if (way == Way::direct || (way == Way::push && !plan.meets)) {
    places_[me_] = {{const_cast<std::byte*>(op.in)}, {op.out}};
    if (!reach_all(plan)) return false;
  }
  op.way = way;
  op.by_domains = way == Way::direct && plan.domains.count != 0 && can_go_by_domains(plan);
  // Of a reduction all have told where their inputs are.
  const bool copied = reduces(plan.operation) &&
                      std::any_of(notes_.begin(), notes_.end(),
                                  [](const BoardNotes& one) { return one.in.reached() && !one.in.mapped(); });
  op.tile_bytes = copied ? plan.copied_tile : plan.tile;
  // Behind the others' first bytes: they may wait for these.
  if (way == Way::through_board && gives(plan, me_) && !takes(plan)) op.tile = 1;
  if (op.tile == 0) copy_own(op, plan);
  return true;
}

template <class Access>
bool BoardOf<Access>::work(BoardOp& op, const BoardPlan& plan, const Movement& movement) {
  using Way = BoardOp::Way;
  if (goes_up_a_tree(plan.method, plan.operation)) return reduce_up_tree(op, plan);
  if (goes_down_a_tree(plan.method)) return pass_down(op, plan);
  if (op.way == Way::unknown && !begin_work(op, plan)) return false;
  if (op.way == Way::through_board) {
    if (movement.level != 0) return true;
    if (!go_through_board(op, plan)) return false;
    if (std::exchange(op.tile, 0) != 0) copy_own(op, plan);
    return true;
  }
  // At a meeting the root has moved everything.
  if (!(op.way == Way::push && plan.meets) && !move_directly(op, plan, movement.level)) return false;
  op.piece = plan.pieces - 1;
  // All is done when the last tile is.
  if (plan.method == BoardMethod::claims) op.movement = plan.movements - 1;
  return true;
}

template <class Access>
bool BoardOf<Access>::move_directly(BoardOp& op, const BoardPlan& plan, std::uint32_t stage) {
  if (plan.method == BoardMethod::claims) return claim_tiles(op, plan);
  if (op.by_domains) return go_by_domains(op, plan, stage);
  if (reduces(plan.operation)) return stage != 0 || combine_tiles(op, plan);
  if (plan.method == BoardMethod::two_stage) return stage_broadcast(op, plan, stage);
  const std::uint64_t shift = me_ * plan.bytes;
  const Places& root = places_[plan.root];
  access_.reads(op.out, plan.bytes);
  switch (plan.operation) {
    case Operation::broadcast:
      if (me_ != plan.root && !read(plan.root, op.out, root.in, plan.bytes)) return false;
      return !anybody_left(op);
    case Operation::scatter:
      if (me_ != plan.root && !read(plan.root, op.out, root.in + shift, plan.bytes)) return false;
      return !anybody_left(op);
    case Operation::gather:
      if (anybody_left(op)) return false;
      if (me_ != plan.root) write(plan.root, root.out.at + shift, op.in, plan.bytes);
      return true;
    default:
      if (stage != 0) return true;
      return op.way == BoardOp::Way::push ? write_blocks(op, plan) : read_blocks(op, plan);
  }
}

/// This member's own bytes, of operations that only move them.
template <class Access>
void BoardOf<Access>::copy_own(const BoardOp& op, const BoardPlan& plan) noexcept {
  const std::uint64_t shift = me_ * plan.bytes;
  switch (plan.operation) {
    case Operation::broadcast:
      if (me_ == plan.root) copy_long(op.out, op.in, plan.bytes);
      return;
    case Operation::scatter:
      if (me_ == plan.root) copy_long(op.out, op.in + shift, plan.bytes);
      return;
    case Operation::gather:
      if (me_ == plan.root) copy_long(op.out + shift, op.in, plan.bytes);
      return;
    case Operation::all_gather:  // `show` has copied it, where there is one
      if (plan.method == BoardMethod::stream) copy_long(op.out + shift, op.in, plan.bytes);
      return;
    case Operation::all_to_all: return copy_long(op.out + shift, op.in + shift, plan.bytes);
    default: return;
  }
}

/// All other members, as long as `act` returns true. Each begins with another one. By domains, those of this member's domain come
/// first, then those of one other domain at a time.
template <class Access>
template <class Act>
bool BoardOf<Access>::each_other(const BoardPlan& plan, const Act& act) const {
  const BoardDomains& domains = plan.domains;
  for (Rank i = 1; domains.count == 0 && i < ranks_; ++i) {
    if (!act(static_cast<Rank>((std::uint64_t{me_} + i) % ranks_))) return false;
  }
  for (std::uint32_t i = 0; i < domains.count; ++i) {
    const std::span<const Rank> members = domains.members((domains.mine + i) % domains.count);
    for (std::uint64_t k = 0; k < members.size(); ++k) {
      const Rank other = members[(domains.index + k) % members.size()];
      if (other != me_ && !act(other)) return false;
    }
  }
  return true;
}

/// Of operations in which each member has a block of every other one.
template <class Access>
bool BoardOf<Access>::read_blocks(const BoardOp& op, const BoardPlan& plan) {
  const std::uint64_t shift = plan.operation == Operation::all_gather ? 0 : me_ * plan.bytes;
  const auto take = [&](Rank other) {
    return read(other, op.out + other * plan.bytes, places_[other].in + shift, plan.bytes);
  };
  return each_other(plan, take) && !anybody_left(op);
}
template <class Access>
bool BoardOf<Access>::write_blocks(const BoardOp& op, const BoardPlan& plan) {
  const std::uint64_t shift = me_ * plan.bytes;
  const bool same = plan.operation == Operation::all_gather;
  return each_other(plan, [&](Rank other) {
    if (anybody_left(op)) return false;
    write(other, places_[other].out.at + shift, op.in + (same ? 0 : other * plan.bytes), plan.bytes);
    return true;
  });
}

/// First each member takes a part from the root, then the other parts from those who have them.
template <class Access>
bool BoardOf<Access>::stage_broadcast(const BoardOp& op, const BoardPlan& plan, std::uint32_t stage) {
  if (me_ == plan.root) return true;
  const std::uint64_t lines = (plan.bytes + 63) / 64;
  const auto border = [&](std::uint64_t part) {
    return std::min(plan.bytes, (lines * part + ranks_ - 1) / ranks_ * 64);
  };
  for (Rank i = 0; i < ranks_; ++i) {
    const Rank part = static_cast<Rank>((std::uint64_t{me_} + i) % ranks_);
    if ((stage == 0) != (part == me_)) continue;
    const bool of_root = stage == 0 || part == plan.root;
    const Place from = of_root ? places_[plan.root].in : places_[part].out;
    if (!read(of_root ? plan.root : part, op.out + border(part), from + border(part),
              border(part + 1) - border(part)))
      return false;
  }
  return !anybody_left(op);
}

}  // namespace aqueduct::coll
