#pragma once

#include "coll/shared/board_of.hpp"

#include <cstring>

// Of large operations: where the buffers of all members are, and by which way bytes get from one to the other.

namespace aqueduct::coll {

/// Tells the others where this member's buffers are. A contribution out of their reach lies in the output too, if that is in
/// reach and has a place for it.
template <class Access>
void BoardOf<Access>::show(BoardOp& op, const BoardPlan& plan) {
  BoardNotes& notes = op.notes;
  if (plan.operation == Operation::all_gather) {
    give_long(op.out + me_ * plan.bytes, op.in, plan.bytes);
  } else if (plan.operation == Operation::all_reduce && !notes.in.mapped() && notes.out.mapped()) {
    notes.in = notes.out;
    if (plan.method != BoardMethod::claims && plan.domains.count == 0) {
      // Those that others combine. Then all have their inputs mapped, and tiles are as long as that.
      for (std::uint64_t tile = 0, at = 0; at < plan.bytes; ++tile, at += plan.tile) {
        if (tile % ranks_ != me_) give_long(op.out + at, op.in + at, std::min(plan.tile, plan.bytes - at));
      }
    } else {
      give_long(op.out, op.in, plan.bytes);
      op.in = op.out;
    }
  }
  tell(op, notes);
}

template <class Access>
void BoardOf<Access>::tell(const BoardOp& op, const BoardNotes& notes) {
  std::byte* const place = own(me_, op.number()).payload;
  access_.writes(place, sizeof notes);
  std::memcpy(place, &notes, sizeof notes);
}

template <class Access>
void BoardOf<Access>::learn(const BoardOp& op, Rank member) {
  const std::byte* const place = own(member, op.number()).payload;
  access_.reads(place, sizeof(BoardNotes));
  std::memcpy(&notes_[member], place, sizeof(BoardNotes));
}

/// The same on all members: by what they have all been told.
template <class Access>
BoardOp::Way BoardOf<Access>::way_of(const BoardPlan& plan) const noexcept {
  using Way = BoardOp::Way;
  const auto all = [&](auto check) { return std::all_of(notes_.begin(), notes_.end(), check); };
  const auto in_mapped = [](const BoardNotes& one) { return one.in.mapped(); };
  const auto in_reached = [](const BoardNotes& one) { return one.in.reached(); };
  const auto out_mapped = [](const BoardNotes& one) { return one.out.mapped(); };
  const auto either = [](const BoardNotes& one) { return one.in.reached() || one.out.mapped(); };
  // What is copied from all members has room here, one element of each at the least.
  const bool has_room = plan.element * std::uint64_t{ranks_} <= here_.size();
  const auto all_read = [&] { return all(in_mapped) || (has_room && all(in_reached)); };
  const auto if_so = [](bool direct) { return direct ? Way::direct : Way::through_board; };
  const BoardNotes& root = notes_[plan.root];
  switch (plan.operation) {
    case Operation::broadcast: {
      bool outputs = true;
      for (Rank i = 0; i < ranks_ && plan.method == BoardMethod::two_stage; ++i)
        outputs = outputs && (i == plan.root || notes_[i].out.reached());
      return if_so(root.in.reached() && outputs);
    }
    case Operation::scatter: return if_so(root.in.reached());
    case Operation::gather: return if_so(root.out.mapped());
    // Copies by the processor are the fastest.
    case Operation::all_gather:
      return all(in_mapped) ? Way::direct : all(out_mapped) ? Way::push : if_so(all(either));
    case Operation::all_to_all:
      return all(in_mapped) ? Way::direct : all(out_mapped) ? Way::push : if_so(all(in_reached));
    case Operation::reduce:
      return if_so(all_read() && (plan.method != BoardMethod::claims || root.out.mapped()));
    case Operation::all_reduce: return if_so(all_read() && all(out_mapped));
    case Operation::reduce_scatter:
      return if_so(all_read() && (plan.method != BoardMethod::claims || all(out_mapped)));
    default: return Way::through_board;
  }
}

/// Where a member's buffer is here. False: it cannot be mapped.
template <class Access>
bool BoardOf<Access>::reach(Rank member, const BufferNote& note, std::uint64_t bytes, Place& place) {
  place = {};
  if (!note.reached()) return true;
  place.at = access_.reach(member, note, bytes);
  place.far = !note.mapped();
  return place.at != nullptr;
}

/// Finds the buffers of all members. False: one of them cannot be mapped.
template <class Access>
bool BoardOf<Access>::reach_all(const BoardPlan& plan) {
  const bool one = plan.method == BoardMethod::mapped && plan.root < ranks_ && has_root(plan.operation);
  for (Rank i = 0; i < ranks_; ++i) {
    if (i == me_) continue;
    places_[i] = {};
    if (one && i != plan.root) continue;
    const BoardNotes& notes = notes_[i];
    if (!reach(i, notes.in, bytes_in(plan), places_[i].in)) return false;
    if (!reach(i, notes.out, bytes_out(plan), places_[i].out)) return false;
    // Its own block is in its output too, and may be mapped only there.
    if (plan.operation == Operation::all_gather && !notes.in.mapped() && notes.out.mapped())
      places_[i].in = places_[i].out + i * plan.bytes;
  }
  return true;
}

/// Whether a member has given up this operation, or one before it, so that its buffers are its program's again. Asked after bytes
/// were read, and before they are written. One that has given up a later operation has ended this one as all others do.
template <class Access>
bool BoardOf<Access>::anybody_left(const BoardOp& op) {
  for (Rank i = 0; i < ranks_; ++i) {
    const std::uint64_t left = i == me_ ? 0 : access_.load_behind(access_.head(i).left);
    if (left != 0 && left <= op.last_number()) {
      waits_for_ = i;
      return true;
    }
  }
  return false;
}

/// The root's input is not mapped by the others. They tell it where their outputs are. If these are mapped, it writes to them;
/// it says what it has done, or what is to be done. False: has to wait.
template <class Access>
bool BoardOf<Access>::meet(BoardOp& op, const BoardPlan& plan, BoardOp::Way& way) {
  if (me_ != plan.root) {
    if (!op.shown) {
      if (!may_publish(op, 0)) return false;
      tell(op, op.notes);
      publish(op, 0, plan.root);
      access_.wake(plan.root);
      op.shown = true;
    }
    if (!look(op, plan.root)) return false;
    const std::byte* const said = own(plan.root, op.number()).payload;
    access_.reads(said, sizeof way);
    std::memcpy(&way, said, sizeof way);
  } else {
    for (; op.at < ranks_; ++op.at) {
      if (op.at == me_) continue;
      if (!look(op, op.at)) return false;
      learn(op, op.at);
    }
    if (!may_publish(op, 0)) return false;
    bool mapped = true;
    for (Rank i = 0; i < ranks_; ++i) mapped = mapped && (i == me_ || notes_[i].out.mapped());
    if (mapped) {
      if (!push_from_root(op, plan)) return false;
      way = BoardOp::Way::push;
    }
    std::byte* const place = own(me_, op.number()).payload;
    access_.writes(place, sizeof way);
    std::memcpy(place, &way, sizeof way);
    publish(op, 0);
    access_.wake_all();
  }
  next_piece(op);
  return true;
}

template <class Access>
bool BoardOf<Access>::push_from_root(const BoardOp& op, const BoardPlan& plan) {
  for (Rank i = 0; i < ranks_; ++i) {
    if (i == me_) continue;
    Place to;
    if (!reach(i, notes_[i].out, plan.bytes, to)) return false;
    if (anybody_left(op)) return false;
    write(i, to.at, op.in + (plan.operation == Operation::scatter ? i * plan.bytes : 0), plan.bytes);
  }
  return true;
}

}  // namespace aqueduct::coll
