#pragma once

#include "coll/shared/board_of.hpp"

// The movements of short operations, whose bytes travel on the board.

namespace aqueduct::coll {

/// Takes what a member has published in an exchange.
template <class Access>
inline void BoardOf<Access>::take(const BoardOp& op, Rank from, const std::byte* its) {
  const BoardPlan& plan = *op.plan;
  // What the first member has published is asked for but once: then it lies in a partial result.
  const auto add = [&](std::uint64_t shift) {
    if (from == 0) return;
    accumulate(op, from, from == 1 ? read_payload(op, 0, plan.payload) + shift : nullptr, its + shift);
  };
  switch (plan.operation) {
    case Operation::all_gather: return copy(op.out + from * plan.bytes, its, plan.bytes);
    case Operation::all_to_all:
      return copy(op.out + from * plan.bytes, its + plan.me * plan.bytes, plan.bytes);
    case Operation::gather:
      if (plan.me == plan.root) copy(op.out + from * plan.bytes, its, plan.bytes);
      return;
    case Operation::broadcast:
      if (from == plan.root) copy(op.out, its, plan.bytes);
      return;
    case Operation::scatter:
      if (from == plan.root) copy(op.out, its + plan.me * plan.bytes, plan.bytes);
      return;
    case Operation::reduce_scatter: {
      add(plan.me * plan.bytes);
      if (from + 1 == plan.ranks) deliver(op, partial(op));
      return;
    }
    case Operation::scan:
    case Operation::exscan: {
      const Rank end = plan.operation == Operation::scan ? plan.me + 1 : plan.me;
      if (from >= end) return;
      if (end == 1) return deliver(op, its);
      add(0);
      if (from + 1 == end) deliver(op, partial(op));
      return;
    }
    case Operation::reduce:
      if (plan.me != plan.root) return;
      [[fallthrough]];
    case Operation::all_reduce:
      add(0);
      if (from + 1 == plan.ranks) deliver(op, partial(op));
      return;
    default: return;
  }
}

// Everything of a movement is asked for once: beside the other members' lines, instructions are what a short operation costs.
template <class Access>
inline bool BoardOf<Access>::exchange(BoardOp& op, const BoardPlan& plan, const Movement& movement) {
  const std::uint64_t number = op.number();
  const Rank end = last_read(plan, movement);
  // Member 0's contribution is combined with that of member 1.
  const bool combines = movement.data && (plan.operation == Operation::all_reduce ||
                                          plan.operation == Operation::reduce_scatter);
  if (!op.shown) {
    const std::uint64_t bytes = payload_of(plan, movement);
    if (!may_publish(op, number, bytes)) return false;
    BoardSlot& slot = own(me_, number);
    if (movement.notes) show(op, plan);
    if (movement.data) contribute(op, my_payload(number, slot, plan.payload));
    if (combines && me_ == 0) op.at = 1;
    op.shown = true;
    publish(op, number, slot, bytes, kNoRank);
    access_.wake_all();
  }
  for (; op.at < end; ++op.at) {
    BoardSlot& slot = own(op.at, number);
    if (op.at != me_ && !look(op, number, slot, op.at)) return false;
    if (movement.notes) learn(op, op.at);
    if (movement.data && (op.at != 0 || !combines))
      take(op, op.at, read_payload(number, slot, op.at, plan.payload));
  }
  return true;
}

template <class Access>
inline bool BoardOf<Access>::up(BoardOp& op, const BoardPlan& plan, const Movement& movement) {
  const std::uint64_t number = op.number();
  if (me_ != plan.root) {
    const std::uint64_t bytes = payload_of(plan, movement);
    if (!may_publish(op, number, bytes)) return false;
    BoardSlot& slot = own(me_, number);
    if (movement.data) contribute(op, my_payload(number, slot, plan.payload));
    publish(op, number, slot, bytes, plan.root);
    access_.wake(plan.root);
    return true;
  }
  if (!op.shown) {
    // The output may be the input.
    if (movement.data) contribute(op, here_.data());
    op.shown = true;
  }
  for (; op.at < ranks_; ++op.at) {
    BoardSlot& slot = own(op.at, number);
    if (op.at != me_ && !look(op, number, slot, op.at)) return false;
    if (!movement.data) continue;
    const std::byte* const its =
        op.at == me_ ? here_.data() : read_payload(number, slot, op.at, plan.payload);
    if (plan.operation == Operation::gather) {
      copy(op.out + op.at * plan.bytes, its, plan.bytes);
      continue;
    }
    if (op.at == 1)
      accumulate(op, 1, me_ == 0 ? here_.data() : read_payload(op, 0, plan.payload), its);
    else
      accumulate(op, op.at, nullptr, its);
    if (op.at + 1 == ranks_) deliver(op, partial(op));
  }
  known_all_ = std::max(known_all_, number - 1);
  return true;
}

template <class Access>
inline bool BoardOf<Access>::down(BoardOp& op, const BoardPlan& plan, const Movement& movement) {
  const std::uint64_t number = op.number();
  BoardSlot& slot = own(plan.root, number);
  if (me_ == plan.root) {
    const std::uint64_t bytes = payload_of(plan, movement);
    if (!may_publish(op, number, bytes)) return false;
    if (movement.notes) show(op, plan);
    if (movement.data) contribute(op, my_payload(number, slot, plan.payload));
    publish(op, number, slot, bytes, kNoRank);
    access_.wake_all();
    if (movement.notes) learn(op, me_);
    if (movement.data)
      copy(op.out, op.in + (plan.operation == Operation::scatter ? me_ * plan.bytes : 0), plan.bytes);
    return true;
  }
  if (!look(op, number, slot, plan.root)) return false;
  if (movement.notes) learn(op, plan.root);
  if (!movement.data) return true;
  const std::byte* const its = read_payload(number, slot, plan.root, plan.payload);
  copy(op.out, its + (plan.operation == Operation::scatter ? me_ * plan.bytes : 0), plan.bytes);
  return true;
}

/// One movement, in which the end of the other member is told by its BoardHead::done, which it writes anyway. As three movements,
/// up, down and up, it takes a tenth longer between near processors.
template <class Access>
inline bool BoardOf<Access>::meet_root(BoardOp& op, const BoardPlan& plan, const Movement& movement) {
  const std::uint64_t number = op.number();
  const Rank other = 1 - me_;
  BoardSlot& its = own(other, number);
  // No `look`: the line behind is not there yet, and to fetch it would hold up who writes it.
  const auto has_met = [&] {
    if (!has_come(op, number, its, other)) return false;
    done_[other] = number - 1;
    return true;
  };
  const auto block = [&](const std::byte* blocks) {
    return blocks + (plan.operation == Operation::scatter ? me_ * plan.bytes : 0);
  };
  if (me_ != plan.root) {
    if (!op.shown) {
      if (!may_publish(op, number, 0)) return false;
      publish(op, number, own(me_, number), 0, plan.root);
      op.shown = true;
      access_.wake(plan.root);
    }
    if (!has_met()) return false;
    copy(op.out, block(read_payload(number, its, other, plan.payload)), plan.bytes);
    say_done(number);
    access_.wake(plan.root);
    return true;
  }
  if (op.at == 0) {
    if (!has_met()) return false;
    op.at = kMet;
  }
  if (op.at == kMet) {
    const std::uint64_t bytes = payload_of(plan, movement);
    if (!may_publish(op, number, bytes)) return false;
    BoardSlot& slot = own(me_, number);
    contribute(op, my_payload(number, slot, plan.payload));
    // Before the other can end: then it may write to this input, and read this output.
    copy(op.out, block(op.in), plan.bytes);
    publish(op, number, slot, bytes, other);
    access_.wake(other);
    op.at = kPublished;
  }
  return is_done(other, number);
}

template <class Access>
inline bool BoardOf<Access>::tree_up(BoardOp& op, const BoardPlan& plan, const Movement& movement) {
  const std::uint64_t number = op.number();
  const bool is_root = plan.parent == kNoRank;
  BoardSlot& slot = own(me_, number);
  // Where what has come so far is: what the root has combined stays until the way down.
  std::byte* const so_far = is_root ? here_.data() : place_in(slot, me_, number, plan.payload);
  if (!op.shown) {
    if (!is_root && !may_publish(op, payload_of(plan, movement))) return false;
    if (movement.data) {
      if (!is_root) access_.writes(so_far, plan.payload);
      contribute(op, so_far);
    }
    op.shown = true;
  }
  const auto children = static_cast<std::uint32_t>(plan.children.size());
  if (plan.push_up && op.at == 0 && children != 0 &&
      !count_is(op, access_.counts(me_).pushed, pushed_, children))
    return false;
  for (; op.at < children; ++op.at) {
    const Rank child = plan.children[op.at];
    if (!look(op, child)) return false;
    if (!movement.data) continue;
    if (!is_root) access_.writes(so_far, plan.payload);
    combine(op, so_far, so_far, read_payload(op, child, plan.payload));
  }
  if (plan.push_up && !is_root && !may_push(op, plan.parent)) return false;
  if (plan.push_up) pushed_[narrow_of(number)] += children * unit_of(op);
  if (is_root) {
    known_all_ = std::max(known_all_, number - 1);
    if (movement.data && plan.operation == Operation::reduce) deliver(op, here_.data());
    return true;
  }
  publish(op, payload_of(plan, movement), plan.parent);
  if (plan.push_up) access_.add(access_.counts(plan.parent).pushed[narrow_of(number)], unit_of(op));
  access_.wake(plan.parent);
  return true;
}
template <class Access>
inline bool BoardOf<Access>::tree_down(BoardOp& op, const BoardPlan& plan, const Movement& movement) {
  const std::uint64_t number = op.number();
  const bool is_root = plan.parent == kNoRank;
  if (op.at == 0) {
    if (!is_root) {
      BoardSlot& from = plan.push_down ? inbox(me_, number) : own(plan.parent, number);
      if (!look(op, from, plan.parent)) return false;
      done_[plan.parent] = number - 1;
    }
    op.at = 1;
  }
  const auto children = static_cast<std::uint32_t>(plan.children.size());
  if (children != 0) {
    if (!may_publish(op, payload_of(plan, movement))) return false;
    for (std::uint32_t i = 0; plan.push_down && i < children; ++i) {
      if (!may_push(op, plan.children[i])) return false;
    }
  }
  const bool is_short = plan.payload <= kInlinePayload;
  const std::byte* its = nullptr;
  if (movement.data) {
    if (is_root) {
      its = plan.operation == Operation::all_reduce ? here_.data() : op.in;
    } else if (plan.push_down && is_short) {
      its = inbox(me_, number).payload;
      access_.reads(its, plan.payload);
    } else {
      its = read_payload(op, plan.parent, plan.payload);
    }
  }
  if (children != 0) {
    if (movement.data && !(plan.push_down && is_short)) give(my_payload(op, plan.payload), its, plan.payload);
    publish(op, payload_of(plan, movement));
    for (std::uint32_t i = 0; i < children; ++i) {
      if (plan.push_down) {
        BoardSlot& to = inbox(plan.children[i], number);
        if (movement.data && is_short) {
          access_.writes(to.payload, plan.payload);
          give(to.payload, its, plan.payload);
        }
        access_.relaxed(to.mark, op.mark);
        access_.store(to.number, number);
      }
      access_.wake(plan.children[i]);
    }
  }
  if (movement.data) deliver(op, its);
  return true;
}

template <class Access>
inline bool BoardOf<Access>::last(BoardOp& op, const BoardPlan& plan, const Movement& movement) {
  const std::uint64_t number = op.number();
  BoardSlot& result = inbox(0, number);
  const bool data = movement.data;
  const bool reduces =
      data && (plan.operation == Operation::all_reduce || plan.operation == Operation::reduce);
  if (!op.shown) {
    const std::uint64_t bytes = payload_of(plan, movement);
    if (!may_publish(op, bytes)) return false;
    if (data && contributes(plan)) contribute(op, my_payload(op, plan.payload));
    publish(op, bytes);
    const std::uint32_t slot = narrow_of(number);
    const std::uint64_t before = last_[slot];
    last_[slot] = before + ranks_ * unit_of(op);
    all_read_inbox_[slot] = number;
    const std::uint64_t now = access_.add(access_.counts(0).last[slot], unit_of(op)) - before;
    op.is_last = (now & 0xffff) == ranks_ % 0x10000;
    if (op.is_last && now != ranks_ * unit_of(op)) [[unlikely]] {
      disagrees_ = true;
      op.is_last = false;
    }
    op.shown = true;
  }
  if (!op.is_last) {
    if (!look(op, result, kNoRank)) return false;
  } else {
    if (reduces) {
      // The contribution of this member is needed no more when all are combined.
      for (Rank i = 1; i < ranks_; ++i)
        combine(op, here_.data(), i == 1 ? read_payload(op, 0, plan.payload) : here_.data(),
                read_payload(op, i, plan.payload));
      std::byte* const to = plan.payload <= kInlinePayload ? result.payload : my_payload(op, plan.payload);
      if (plan.payload <= kInlinePayload) access_.writes(to, plan.payload);
      give(to, here_.data(), plan.payload);
    }
    access_.relaxed(result.who, me_);
    access_.relaxed(result.mark, op.mark);
    access_.store(result.number, number);
    access_.wake_all();
  }
  if (!data) return true;
  if (!reduces) {
    for (Rank i = 0; i < last_read(plan, movement); ++i) take(op, i, read_payload(op, i, plan.payload));
    return true;
  }
  if (plan.operation == Operation::reduce && me_ != plan.root) return true;
  if (op.is_last) {
    deliver(op, here_.data());
    return true;
  }
  if (plan.payload <= kInlinePayload) {
    access_.reads(result.payload, plan.payload);
    deliver(op, result.payload);
  } else {
    deliver(op, read_payload(op, access_.relaxed(result.who), plan.payload));
  }
  return true;
}

template <class Access>
inline bool BoardOf<Access>::round(BoardOp& op, const BoardPlan& plan, const Movement& movement) {
  const RoundsPlace& place = plan.in_rounds;
  if (place.partners.empty()) return true;
  const Rank partner = place.partners[movement.level];
  if (!op.shown) {
    const std::uint64_t bytes = payload_of(plan, movement);
    if (!may_publish(op, bytes)) return false;
    if (movement.data) {
      const bool all_take_part = std::uint64_t{1} << place.rounds == plan.ranks;
      if (movement.level == 0 && all_take_part) contribute(op, here_.data());
      give(my_payload(op, plan.payload), here_.data(), plan.payload);
    }
    publish(op, bytes, partner);
    access_.wake(partner);
    op.shown = true;
  }
  if (!look(op, partner)) return false;
  if (!movement.data) return true;
  // Both combine in the same order, so everybody gets the same bits.
  const std::byte* const its = read_payload(op, partner, plan.payload);
  if (me_ < partner)
    combine(op, here_.data(), here_.data(), its);
  else
    combine(op, here_.data(), its, here_.data());
  if (movement.level + 1u == place.rounds) deliver(op, here_.data());
  return true;
}

/// Those that others take part for give these what they have.
template <class Access>
inline bool BoardOf<Access>::help(BoardOp& op, const BoardPlan& plan, const Movement& movement) {
  const RoundsPlace& place = plan.in_rounds;
  if (place.helper != kNoRank) {
    const std::uint64_t bytes = payload_of(plan, movement);
    if (!may_publish(op, bytes)) return false;
    if (movement.data) contribute(op, my_payload(op, plan.payload));
    publish(op, bytes, place.helper);
    access_.wake(place.helper);
    return true;
  }
  if (!op.shown) {
    if (movement.data) contribute(op, here_.data());
    op.shown = true;
  }
  for (; op.at < place.helped.size(); ++op.at) {
    const Rank member = place.helped[op.at];
    if (!look(op, member)) return false;
    if (movement.data) combine(op, here_.data(), here_.data(), read_payload(op, member, plan.payload));
  }
  return true;
}
/// And get the result from them.
template <class Access>
inline bool BoardOf<Access>::tell_helped(BoardOp& op, const BoardPlan& plan, const Movement& movement) {
  const RoundsPlace& place = plan.in_rounds;
  if (place.helper != kNoRank) {
    if (!look(op, place.helper)) return false;
    if (movement.data) deliver(op, read_payload(op, place.helper, plan.payload));
    return true;
  }
  if (place.helped.empty()) return true;
  const std::uint64_t bytes = payload_of(plan, movement);
  if (!may_publish(op, bytes)) return false;
  if (movement.data) give(my_payload(op, plan.payload), here_.data(), plan.payload);
  publish(op, bytes);
  for (const Rank member : place.helped) access_.wake(member);
  return true;
}

template <class Access>
inline bool BoardOf<Access>::chain(BoardOp& op, const BoardPlan& plan, const Movement& movement) {
  const bool is_first = me_ == 0;
  const bool is_last = me_ + 1 == ranks_;
  const std::uint64_t bytes = payload_of(plan, movement);
  if (!is_first && !look(op, me_ - 1)) return false;
  if (!is_last && !may_publish(op, bytes)) return false;
  // What this member passes on, in its slot; of the last one, its result.
  std::byte* const so_far = is_last ? partial(op) : movement.data ? my_payload(op, bytes) : nullptr;
  const std::byte* before = nullptr;
  if (movement.data) {
    if (!is_first) before = read_payload(op, me_ - 1, bytes);
    if (is_first)
      contribute(op, so_far);
    else if (!is_last || plan.operation == Operation::scan)
      combine(op, so_far, before, contribution(op));
  }
  if (!is_last) {
    publish(op, bytes, me_ + 1);
    access_.wake(me_ + 1);
  }
  if (!movement.data) return true;
  if (plan.operation == Operation::scan)
    deliver(op, so_far);
  else if (!is_first)
    deliver(op, before);
  return true;
}

}  // namespace aqueduct::coll
