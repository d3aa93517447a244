#pragma once

#include "coll/shared/board_plan.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

namespace aqueduct::coll {

struct BoardPiece;

/// An operation of a board on one member, as far as it has come.
struct BoardOp {
  const BoardPlan* plan = nullptr;
  const BoardCombiner* combiner = nullptr;
  const std::byte* in = nullptr;
  std::byte* out = nullptr;
  std::uint64_t first = 0;  ///< the number of its first movement
  std::uint32_t mark = 0;
  std::uint32_t movement = 0;  ///< the one under way
  std::uint32_t at = 0;        ///< how far it has come there
  bool shown = false;          ///< this member has published its part
  bool is_last = false;        ///< in a `last`: this member was it
  // Of a large operation.
  BoardNotes notes{};         ///< of this member's buffers
  std::uint32_t piece = 0;    ///< the one under way, of those that go through the board
  std::uint64_t tile = 0;     ///< how far this member has come in its direct work
  std::uint64_t claimed = 0;  ///< tiles that it has combined, and not told yet
  /// How bytes move: decided when the buffers are known, alike on all members.
  enum class Way : std::uint8_t { unknown, direct, push, through_board } way = Way::unknown;

  std::uint64_t number() const noexcept { return first + movement + piece; }
  std::uint64_t last_number() const noexcept { return first + plan->movements + plan->pieces - 2; }
};

/// A team's board, as one member uses it. One operation at a time; `step` goes on with it until it has to wait.
///
/// Each word has one writer, but for the counts; all words only rise. A movement's payload is written before its number
/// (release), and read after it (acquire). A slot is written again only when all who read its former payload have said
/// that they are done with that movement (release), and this member has seen that (acquire).
///
/// `Access` is how memory is reached: in the library by plain atomics, in the model by one small step at a time.
template <class Access>
class BoardOf {
 public:
  /// May throw std::bad_alloc.
  BoardOf(Access access, const BoardRoom& room, Rank ranks, Rank me)
      : access_(std::move(access)),
        room_(room),
        ranks_(ranks),
        me_(me),
        readers_(room.slots),
        done_(ranks),
        here_(room.payload()),
        there_(room.payload()),
        notes_(ranks),
        places_(ranks),
        sources_(ranks) {}

  const BoardRoom& room() const noexcept { return room_; }
  Access& access() noexcept { return access_; }
  /// The number of the last movement that has been given to an operation.
  std::uint64_t given() const noexcept { return given_; }
  /// The last movement that this member has ended.
  std::uint64_t ended() const noexcept { return ended_; }
  /// A number or a mark has shown that a member has made another call.
  bool disagrees() const noexcept { return disagrees_; }
  /// The member for which the operation waits, as of the last step; kNoRank: for several, or none.
  Rank waits_for() const noexcept { return waits_for_; }

  /// Gives the operation its numbers. In the team's order.
  void begin(BoardOp& op) noexcept {
    op.first = given_ + 1;
    given_ += op.plan->movements + op.plan->pieces - 1;
    op.movement = op.at = op.piece = 0;
    op.shown = op.is_last = false;
    op.tile = op.claimed = 0;
    op.way = BoardOp::Way::unknown;
  }
  /// Whether it is the operation's turn: those before it have ended here.
  bool may_step(const BoardOp& op) const noexcept { return op.number() == ended_ + 1; }
  /// Goes on until the operation has to wait. True: it has ended. Requires: may_step(op).
  bool step(BoardOp& op) {
    const BoardPlan& plan = *op.plan;
    while (op.movement < plan.movements) {
      const Movement movement = plan.movement[op.movement];
      if (!go_on(op, plan, movement)) return false;
      ended_ = op.number();
      if (movement.heard != Movement::kNothing)
        known_all_ = std::max(known_all_, ended_ - movement.heard - 1);
      access_.store(access_.head(me_).done, ended_);
      ++op.movement;
      op.at = 0;
      op.shown = op.is_last = false;
    }
    return true;
  }
  /// This member gives up: what others read of its buffers from now on may be anything, and they must not write there.
  void leave() {
    access_.store(access_.head(me_).left, 1);
    access_.wake_all();
  }
  /// For models: what this member knows of the others.
  std::uint64_t digest() const noexcept {
    std::uint64_t hash = ended_ * 31 + known_all_;
    for (const std::uint64_t done : done_) hash = hash * 1'000'003 + done;
    return hash;
  }
  /// This member's latest call of the team, on a board or not.
  void say(std::uint64_t number, std::uint32_t mark) {
    access_.store(access_.head(me_).said, (number & 0xffff'ffff) << 32 | mark);
  }
  std::uint64_t said_by(Rank member) { return access_.load(access_.head(member).said); }

 private:
  /// A movement in which this member has published, and who reads it: a member, or kNoRank for several.
  struct Reading {
    std::uint64_t number = 0;
    Rank one = kNoRank;
  };

  std::uint32_t slot_of(std::uint64_t number) const noexcept {
    return static_cast<std::uint32_t>(number & (room_.slots - 1));
  }
  /// Of an inbox, a count, or a payload beside its line.
  std::uint32_t narrow_of(std::uint64_t number) const noexcept {
    return static_cast<std::uint32_t>(number & (room_.narrow() - 1));
  }
  BoardSlot& own(Rank member, std::uint64_t number) noexcept {
    return access_.own(member, room_, slot_of(number));
  }
  BoardSlot& inbox(Rank member, std::uint64_t number) noexcept {
    return access_.inbox(member, room_, narrow_of(number));
  }
  std::byte* place_in(BoardSlot& slot, Rank whose, std::uint64_t number, std::uint64_t bytes) noexcept {
    return bytes <= kInlinePayload ? slot.payload : access_.bulk(whose, room_, narrow_of(number));
  }
  std::byte* place_of_piece(Rank whose, std::uint64_t number) noexcept {
    return place_in(own(whose, number), whose, number, room_.payload());
  }
  /// The bytes that a member tells in a movement, beside its notes.
  static std::uint64_t payload_of(const BoardPlan& plan, const Movement& movement) noexcept {
    return movement.data ? plan.payload : 0;
  }
  static std::uint64_t unit_of(const BoardOp& op) noexcept {
    return std::uint64_t{1} | std::uint64_t{op.mark} << 16;
  }

  /// Whether a member has ended all movements up to this number.
  bool is_done(Rank member, std::uint64_t number) {
    if (known_all_ >= number || done_[member] >= number) return true;
    if (member == me_) return true;
    done_[member] = std::max(done_[member], access_.load(access_.head(member).done));
    if (done_[member] >= number) return true;
    waits_for_ = member;
    return false;
  }
  bool all_done(std::uint64_t number) {
    if (known_all_ >= number) [[likely]]
      return true;
    for (Rank i = 0; i < ranks_; ++i) {
      if (!is_done(i, number)) return false;
    }
    known_all_ = number;
    return true;
  }
  bool is_read(const Reading& reading) {
    if (known_all_ >= reading.number) [[likely]]
      return true;
    return reading.one != kNoRank ? is_done(reading.one, reading.number) : all_done(reading.number);
  }
  /// Whether this member may write to its slot of a movement, and to the `bytes` of payload there: nobody reads what is there.
  bool may_publish(std::uint64_t number, std::uint64_t bytes) {
    if (!is_read(readers_[slot_of(number)])) return false;
    return bytes <= kInlinePayload || is_read(bulk_readers_[narrow_of(number)]);
  }
  /// Whether this member may write to another one's inbox, or raise its count, for a movement.
  bool may_push(Rank member, std::uint64_t number) {
    if (member == 0 && !all_done(all_read_inbox_[narrow_of(number)])) return false;
    return number <= room_.narrow() || is_done(member, number - room_.narrow());
  }

  /// `reader`: who looks at it, and at the `bytes` of its payload; kNoRank: several do.
  void publish(const BoardOp& op, std::uint64_t bytes, Rank reader = kNoRank) {
    const Reading reading{op.number(), reader};
    BoardSlot& slot = own(me_, op.number());
    access_.relaxed(slot.mark, op.mark);
    access_.store(slot.number, op.number());
    readers_[slot_of(op.number())] = reading;
    if (bytes > kInlinePayload) bulk_readers_[narrow_of(op.number())] = reading;
  }
  /// Whether a member's slot has the movement's number.
  bool look(const BoardOp& op, BoardSlot& slot, Rank whose) {
    const std::uint64_t number = access_.load(slot.number);
    if (number < op.number()) {
      waits_for_ = whose;
      return false;
    }
    if (number != op.number() || access_.relaxed(slot.mark) != op.mark) [[unlikely]] {
      disagrees_ = true;
      return false;
    }
    return true;
  }
  bool look(const BoardOp& op, Rank member) {
    if (!look(op, own(member, op.number()), member)) return false;
    done_[member] = op.number() - 1;
    // If the member is ahead, its next line comes while this member does other things. If not, the line is still in this
    // member's cache, and the prefetch does nothing.
    access_.prefetch(&own(member, op.number() + 1));
    return true;
  }
  const std::byte* read_payload(const BoardOp& op, Rank member, std::uint64_t bytes) {
    const std::byte* const place = place_in(own(member, op.number()), member, op.number(), bytes);
    access_.reads(place, bytes);
    return place;
  }
  std::byte* my_payload(const BoardOp& op, std::uint64_t bytes) {
    std::byte* const place = place_in(own(me_, op.number()), me_, op.number(), bytes);
    access_.writes(place, bytes);
    return place;
  }

  // What the operation does with bytes.

  static void copy(std::byte* to, const std::byte* from, std::uint64_t bytes) noexcept {
    if (to != from && bytes != 0) std::memmove(to, from, bytes);
  }
  // Out of another member's memory, and into it, in large operations.
  void read(Rank member, std::byte* to, const std::byte* from, std::uint64_t bytes) noexcept {
    copy(to, from, bytes);
    access_.have_read(member, bytes);
  }
  void write(Rank member, std::byte* to, const std::byte* from, std::uint64_t bytes) noexcept {
    copy(to, from, bytes);
    access_.have_written(member, bytes);
  }
  /// This member's contribution, as it travels.
  static void contribute(const BoardOp& op, std::byte* to) noexcept {
    if (op.combiner->widen != nullptr)
      return op.combiner->widen(to, op.in, op.plan->payload / op.plan->bytes * op.plan->count);
    copy(to, op.in, op.plan->payload);
  }
  /// A result, as it has travelled.
  static void deliver(const BoardOp& op, const std::byte* from) noexcept {
    if (op.combiner->narrow != nullptr) return op.combiner->narrow(op.out, from, op.plan->count);
    copy(op.out, from, op.plan->bytes);
  }
  static void combine(const BoardOp& op, std::byte* to, const std::byte* left,
                      const std::byte* right) noexcept {
    op.combiner->combine(to, left, right, op.plan->count, op.combiner->context);
  }
  /// Where partial results of this member are: in its output, unless they travel in another type.
  std::byte* partial(const BoardOp& op) noexcept {
    return op.combiner->narrow != nullptr ? there_.data() : op.out;
  }
  /// Adds the contribution of the member `at` to those before it. `first`: that of member 0, if it is not on the board.
  void accumulate(const BoardOp& op, Rank at, const std::byte* zero, const std::byte* its) noexcept {
    std::byte* const to = partial(op);
    if (at == 0) return;
    combine(op, to, at == 1 ? zero : to, its);
  }

  /// Takes what a member has published in an exchange.
  void take(const BoardOp& op, Rank from) {
    const BoardPlan& plan = *op.plan;
    const std::byte* const its = read_payload(op, from, plan.payload);
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
        const std::uint64_t shift = plan.me * plan.bytes;
        if (from != 0) accumulate(op, from, read_payload(op, 0, plan.payload) + shift, its + shift);
        if (from + 1 == plan.ranks) deliver(op, partial(op));
        return;
      }
      case Operation::scan:
      case Operation::exscan: {
        const Rank end = plan.operation == Operation::scan ? plan.me + 1 : plan.me;
        if (from >= end) return;
        if (end == 1) return deliver(op, its);
        if (from != 0) accumulate(op, from, read_payload(op, 0, plan.payload), its);
        if (from + 1 == end) deliver(op, partial(op));
        return;
      }
      case Operation::reduce:
        if (plan.me != plan.root) return;
        [[fallthrough]];
      case Operation::all_reduce:
        if (from != 0) accumulate(op, from, read_payload(op, 0, plan.payload), its);
        if (from + 1 == plan.ranks) deliver(op, partial(op));
        return;
      default: return;
    }
  }
  /// Whose contributions a member needs in an exchange: those of the members before this one.
  static Rank last_read(const BoardPlan& plan, const Movement& movement) noexcept {
    if (!movement.data || movement.heard != Movement::kNothing) return plan.ranks;
    if (plan.operation == Operation::scan) return plan.me + 1;
    return plan.operation == Operation::exscan ? plan.me : plan.ranks;
  }
  /// Whether this member has something to publish in a `last` or an exchange.
  static bool contributes(const BoardPlan& plan) noexcept {
    return (plan.operation != Operation::broadcast && plan.operation != Operation::scatter) ||
           plan.me == plan.root;
  }

  bool go_on(BoardOp& op, const BoardPlan& plan, const Movement& movement) {
    switch (movement.move) {
      case Move::exchange: return exchange(op, plan, movement);
      case Move::up: return up(op, plan, movement);
      case Move::down: return down(op, plan, movement);
      case Move::tree_up: return tree_up(op, plan, movement);
      case Move::tree_down: return tree_down(op, plan, movement);
      case Move::last: return last(op, plan, movement);
      case Move::round: return round(op, plan, movement);
      case Move::chain: return chain(op, plan, movement);
      case Move::work: return work(op, plan, movement);
    }
    return true;
  }

  bool exchange(BoardOp& op, const BoardPlan& plan, const Movement& movement) {
    if (!op.shown) {
      const std::uint64_t bytes = payload_of(plan, movement);
      if (!may_publish(op.number(), bytes)) return false;
      if (movement.notes) show(op, plan);
      if (movement.data) contribute(op, my_payload(op, plan.payload));
      publish(op, bytes);
      access_.wake_all();
      op.shown = true;
    }
    for (const Rank end = last_read(plan, movement); op.at < end; ++op.at) {
      if (op.at != me_ && !look(op, op.at)) return false;
      if (movement.notes) learn(op, op.at);
      if (movement.data) take(op, op.at);
    }
    return true;
  }

  bool up(BoardOp& op, const BoardPlan& plan, const Movement& movement) {
    if (me_ != plan.root) {
      const std::uint64_t bytes = payload_of(plan, movement);
      if (!may_publish(op.number(), bytes)) return false;
      if (movement.data) contribute(op, my_payload(op, plan.payload));
      publish(op, bytes, plan.root);
      access_.wake(plan.root);
      return true;
    }
    if (!op.shown) {
      // The output may be the input.
      if (movement.data) contribute(op, here_.data());
      op.shown = true;
    }
    for (; op.at < ranks_; ++op.at) {
      if (op.at != me_ && !look(op, op.at)) return false;
      if (!movement.data) continue;
      const std::byte* const its = op.at == me_ ? here_.data() : read_payload(op, op.at, plan.payload);
      if (plan.operation == Operation::gather) {
        copy(op.out + op.at * plan.bytes, its, plan.bytes);
        continue;
      }
      if (op.at != 0) accumulate(op, op.at, me_ == 0 ? here_.data() : read_payload(op, 0, plan.payload), its);
      if (op.at + 1 == ranks_) deliver(op, partial(op));
    }
    known_all_ = std::max(known_all_, op.number() - 1);
    return true;
  }

  bool down(BoardOp& op, const BoardPlan& plan, const Movement& movement) {
    if (me_ == plan.root) {
      const std::uint64_t bytes = payload_of(plan, movement);
      if (!may_publish(op.number(), bytes)) return false;
      if (movement.notes) show(op, plan);
      if (movement.data) contribute(op, my_payload(op, plan.payload));
      publish(op, bytes);
      access_.wake_all();
      if (movement.notes) learn(op, me_);
      if (movement.data)
        copy(op.out, op.in + (plan.operation == Operation::scatter ? me_ * plan.bytes : 0), plan.bytes);
      return true;
    }
    if (!look(op, plan.root)) return false;
    if (movement.notes) learn(op, plan.root);
    if (!movement.data) return true;
    const std::byte* const its = read_payload(op, plan.root, plan.payload);
    copy(op.out, its + (plan.operation == Operation::scatter ? me_ * plan.bytes : 0), plan.bytes);
    return true;
  }

  bool tree_up(BoardOp& op, const BoardPlan& plan, const Movement& movement) {
    const std::uint64_t number = op.number();
    const bool is_root = plan.parent == kNoRank;
    BoardSlot& slot = own(me_, number);
    // Where what has come so far is: what the root has combined stays until the way down.
    std::byte* const so_far = is_root ? here_.data() : place_in(slot, me_, number, plan.payload);
    if (!op.shown) {
      if (!is_root && !may_publish(number, payload_of(plan, movement))) return false;
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
    if (plan.push_up && !is_root && !may_push(plan.parent, number)) return false;
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
  bool tree_down(BoardOp& op, const BoardPlan& plan, const Movement& movement) {
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
      if (!may_publish(number, payload_of(plan, movement))) return false;
      for (std::uint32_t i = 0; plan.push_down && i < children; ++i) {
        if (!may_push(plan.children[i], number)) return false;
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
      if (movement.data && !(plan.push_down && is_short))
        copy(my_payload(op, plan.payload), its, plan.payload);
      publish(op, payload_of(plan, movement));
      for (std::uint32_t i = 0; i < children; ++i) {
        if (plan.push_down) {
          BoardSlot& to = inbox(plan.children[i], number);
          if (movement.data && is_short) {
            access_.writes(to.payload, plan.payload);
            copy(to.payload, its, plan.payload);
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

  bool last(BoardOp& op, const BoardPlan& plan, const Movement& movement) {
    const std::uint64_t number = op.number();
    BoardSlot& result = inbox(0, number);
    const bool data = movement.data;
    const bool reduces =
        data && (plan.operation == Operation::all_reduce || plan.operation == Operation::reduce);
    if (!op.shown) {
      const std::uint64_t bytes = payload_of(plan, movement);
      if (!may_publish(number, bytes)) return false;
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
        copy(to, here_.data(), plan.payload);
      }
      access_.relaxed(result.who, me_);
      access_.relaxed(result.mark, op.mark);
      access_.store(result.number, number);
      access_.wake_all();
    }
    if (!data) return true;
    if (!reduces) {
      for (Rank i = 0; i < last_read(plan, movement); ++i) take(op, i);
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

  bool round(BoardOp& op, const BoardPlan& plan, const Movement& movement) {
    const Rank distance = Rank{1} << movement.level;
    const Rank to = static_cast<Rank>((std::uint64_t{me_} + distance) % ranks_);
    const Rank from = static_cast<Rank>((std::uint64_t{me_} + ranks_ - distance) % ranks_);
    if (!op.shown) {
      const std::uint64_t bytes = payload_of(plan, movement);
      if (!may_publish(op.number(), bytes)) return false;
      if (movement.data) {
        if (movement.level == 0) contribute(op, here_.data());
        copy(my_payload(op, plan.payload), here_.data(), plan.payload);
      }
      publish(op, bytes, to);
      access_.wake(to);
      op.shown = true;
    }
    if (!look(op, from)) return false;
    if (!movement.data) return true;
    combine(op, here_.data(), read_payload(op, from, plan.payload), here_.data());
    if (Rank{2} * distance >= ranks_) deliver(op, here_.data());
    return true;
  }

  bool chain(BoardOp& op, const BoardPlan& plan, const Movement& movement) {
    const bool is_first = me_ == 0;
    const bool is_last = me_ + 1 == ranks_;
    const std::uint64_t bytes = payload_of(plan, movement);
    if (!is_first && !look(op, me_ - 1)) return false;
    if (!is_last && !may_publish(op.number(), bytes)) return false;
    const std::byte* before = nullptr;
    std::byte* so_far = here_.data();
    if (movement.data) {
      contribute(op, here_.data());  // the output may be the input
      if (!is_first) before = read_payload(op, me_ - 1, bytes);
      if (!is_last) so_far = my_payload(op, bytes);
      if (is_first)
        copy(so_far, here_.data(), bytes);
      else if (!is_last || plan.operation == Operation::scan)
        combine(op, so_far, before, here_.data());
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

  // board_large.hpp: members access each other's buffers.
  void show(BoardOp& op, const BoardPlan& plan);
  void learn(const BoardOp& op, Rank member);
  BoardOp::Way way_of(const BoardPlan& plan) const noexcept;
  bool reach_all(const BoardPlan& plan);
  bool anybody_left();
  bool work(BoardOp& op, const BoardPlan& plan, const Movement& movement);
  bool move_directly(BoardOp& op, const BoardPlan& plan, std::uint32_t stage);
  void copy_own(const BoardOp& op, const BoardPlan& plan) noexcept;
  bool stage_broadcast(const BoardOp& op, const BoardPlan& plan, std::uint32_t stage);
  void fold_tile(const BoardOp& op, const BoardPlan& plan, Rank block, std::uint64_t tile);
  bool combine_tiles(BoardOp& op, const BoardPlan& plan);
  bool claim_tiles(BoardOp& op, const BoardPlan& plan);
  std::uint64_t add_to_tiles(std::atomic<std::uint64_t>& word, std::uint64_t number, std::uint64_t add,
                             std::uint64_t most);
  bool go_through_board(BoardOp& op, const BoardPlan& plan);
  void fill_piece(const BoardOp& op, const BoardPlan& plan, const BoardPiece& piece);
  void take_piece(const BoardOp& op, const BoardPlan& plan, const BoardPiece& piece);

  /// Whether a count has what `raises` members add to it in this movement.
  bool count_is(const BoardOp& op, std::atomic<std::uint64_t>* counts,
                const std::array<std::uint64_t, kMostNarrow>& before, std::uint32_t raises) {
    const std::uint32_t slot = narrow_of(op.number());
    const std::uint64_t now = access_.load(counts[slot]) - before[slot];
    if (now == raises * unit_of(op)) return true;
    if ((now & 0xffff) >= raises) disagrees_ = true;
    waits_for_ = kNoRank;
    return false;
  }

  Access access_;
  const BoardRoom room_;
  const Rank ranks_;
  const Rank me_;
  std::uint64_t given_ = 0;
  std::uint64_t ended_ = 0;
  std::uint64_t known_all_ = 0;  ///< all members have ended the movements up to this one
  bool disagrees_ = false;
  Rank waits_for_ = kNoRank;
  // [slot] of what this member has published last: in its line, and beside it.
  std::vector<Reading> readers_;
  std::array<Reading, kMostNarrow> bulk_readers_{};
  // [slot]
  std::array<std::uint64_t, kMostNarrow>
      all_read_inbox_{};                             ///< a movement in which all read member 0's inbox
  std::array<std::uint64_t, kMostNarrow> pushed_{};  ///< what has been added to this member's count
  std::array<std::uint64_t, kMostNarrow> last_{};    ///< likewise, to member 0's count of all
  std::vector<std::uint64_t>
      done_;                      ///< [member] it has ended the movements up to this one, as far as is known
  std::vector<std::byte> here_;   ///< this member's contribution, or what it has combined
  std::vector<std::byte> there_;  ///< partial results that travel in another type
  // Of a large operation.
  /// Where a member's buffers are here.
  struct Places {
    std::byte* in = nullptr;
    std::byte* out = nullptr;
  };
  std::vector<BoardNotes> notes_;     ///< [member]
  std::vector<Places> places_;        ///< [member]
  std::vector<const void*> sources_;  ///< what is combined, in team order
};

}  // namespace aqueduct::coll

#include "coll/shared/board_large.hpp"
