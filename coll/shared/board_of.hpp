#pragma once

#include "coll/shared/board_op.hpp"
#include "coll/shared/untouched_bytes.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace aqueduct::coll {

struct BoardPiece;

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
    op.shown = op.is_last = op.short_of_room = false;
    if (!is_large(op.plan->method)) [[likely]]
      return;
    op.tile = op.claimed = 0;
    op.way = BoardOp::Way::unknown;
    op.by_domains = false;
    op.offer = {};
  }
  /// Whether it is the operation's turn: those before it have ended here.
  bool may_step(const BoardOp& op) const noexcept { return op.number() == ended_ + 1; }
  /// Goes on until the operation has to wait. True: it has ended. Requires: may_step(op).
  bool step(BoardOp& op) {
    const BoardPlan& plan = *op.plan;
    while (op.movement < plan.movements) {
      const Movement& movement = plan.movement[op.movement];
      if (!go_on(op, plan, movement)) {
        if (waited_in_ != op.number()) {  // once, however often it looks in vain
          waited_in_ = op.number();
          access_.has_waited();
        }
        return false;
      }
      if (op.short_of_room) [[unlikely]]
        is_short_of_room(op, false);
      if (movement.heard != Movement::kNothing)
        known_all_ = std::max(known_all_, op.number() - movement.heard - 1);
      if (ended_ != op.number()) say_done(op.number());
      ++op.movement;
      op.at = 0;
      op.shown = op.is_last = false;
    }
    return true;
  }
  /// This member gives up an operation: what others read of its buffers from now on may be anything, and they must not write
  /// there. Those after it are given up, too.
  void leave(BoardOp& op) {
    if (op.short_of_room) is_short_of_room(op, false);  // nobody makes room for it any more
    if (left_ != 0 && left_ <= op.first) return;
    left_ = op.first;  // the same number on all members, whatever their calls are
    access_.store(access_.head(me_).left, left_);
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
  /// Where this member runs: as BoardHead::processor.
  void runs_on(std::uint64_t processor) noexcept {
    access_.head(me_).processor.store(processor, std::memory_order_relaxed);
  }
  /// Whether another member has yet to run on this one's processor, as far as is known, before the operation can go on: it has
  /// not begun the call, or has not come to the movement under way.
  bool shares_processor_with_one_behind(const BoardOp& op) noexcept {
    const std::uint64_t here = access_.head(me_).processor.load(std::memory_order_relaxed);
    // Members run in turn, so the one found last is most often found again.
    for (Rank i = 0; i < ranks_; ++i) {
      if (is_behind(op, behind_, here)) return true;
      if (++behind_ == ranks_) behind_ = 0;
    }
    return false;
  }
  /// The mark of a call of which others have yet to read this member's part.
  std::optional<std::uint32_t> mark_of(std::uint32_t call) {
    for (const Reading& reading : readers_) {
      if (reading.number != 0 && reading.call == call && !is_read(reading))
        return access_.relaxed(own(me_, reading.number).mark);
    }
    return std::nullopt;
  }

 private:
  bool is_behind(const BoardOp& op, Rank member, std::uint64_t here) noexcept {
    const BoardHead& head = access_.head(member);
    const std::uint64_t there = head.processor.load(std::memory_order_relaxed);
    if (member == me_ || (there != here && there != 0)) return false;
    const auto said = static_cast<std::uint32_t>(head.said.load(std::memory_order_relaxed) >> 32);
    // The movement that it must have ended.
    const bool waits_for_end = op.plan->movement[op.movement].move == Move::meet && op.at == kPublished;
    return static_cast<std::int32_t>(op.call - said) > 0 ||
           head.done.load(std::memory_order_relaxed) < op.number() - (waits_for_end ? 0 : 1);
  }

  /// BoardOp::at of a root that has met the other member, and that has published.
  static constexpr std::uint32_t kMet = 1;
  static constexpr std::uint32_t kPublished = 2;
  // Chosen: further than the line that readers prefetch themselves.
  static constexpr std::uint64_t kFetchedAhead = 4;

  /// Where a member's buffer is: here, or at this address of its process.
  struct Place {
    std::byte* at = nullptr;
    bool far = false;
    Place operator+(std::uint64_t bytes) const noexcept { return {at + bytes, far}; }
  };
  struct Places {
    Place in;
    Place out;
  };
  /// A movement in which this member has published, and who reads it: a member, or kNoRank for several.
  struct Reading {
    std::uint64_t number = 0;
    Rank one = kNoRank;
    std::uint32_t call = 0;
  };

  std::uint32_t slot_of(std::uint64_t number) const noexcept {
    return static_cast<std::uint32_t>(number & (room_.slots - 1));
  }
  /// Of an inbox, a count, or a payload beside its line.
  std::uint32_t narrow_of(std::uint64_t number) const noexcept {
    return static_cast<std::uint32_t>(number & (room_.narrow - 1));
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

  // board_slots.hpp: who has read a slot, when there is room in it, and what has come.

  /// Whether a member has ended all movements up to this number.
  bool is_done(Rank member, std::uint64_t number);
  bool all_done(std::uint64_t number);
  bool is_read(const Reading& reading);
  /// Of a payload beside its number: whether a part of it is in the second of the slot's two cache lines.
  static bool is_in_both_lines(std::uint64_t bytes) noexcept {
    return bytes > kPayloadOfFirstLine && bytes <= kInlinePayload;
  }
  static const std::byte* second_line_of(const BoardSlot& slot) noexcept {
    return slot.payload + kPayloadOfFirstLine;
  }
  /// Whether this member may write to its slot of a movement, and to the `bytes` of payload there: nobody reads what is there.
  bool may_publish(BoardOp& op, std::uint64_t bytes) { return may_publish(op, op.number(), bytes); }
  [[gnu::always_inline]] bool may_publish(BoardOp& op, std::uint64_t number, std::uint64_t bytes);
  /// Whether this member may write to another one's inbox, or raise its count, for a movement.
  bool may_push(BoardOp& op, Rank member);
  /// If there is no room, this member may sleep until there is. It says so until the movement ends, and those who make room wake
  /// it. A look in which it begins to say so must be followed by another one before it sleeps.
  template <class Check>
  [[gnu::always_inline]] bool has_room(BoardOp& op, const Check& check);
  void is_short_of_room(BoardOp& op, bool is);
  void say_done(std::uint64_t number);

  /// Goes on with the next piece.
  void next_piece(BoardOp& op) {
    say_done(op.number());
    ++op.piece;
    op.at = 0;
    op.shown = false;
  }

  /// `reader`: who looks at it, and at the `bytes` of its payload; kNoRank: several do.
  void publish(const BoardOp& op, std::uint64_t bytes, Rank reader = kNoRank) {
    const std::uint64_t number = op.number();
    publish(op, number, own(me_, number), bytes, reader);
  }
  /// The same of the movement with this number, and its slot.
  [[gnu::always_inline]] void publish(const BoardOp& op, std::uint64_t number, BoardSlot& slot,
                                      std::uint64_t bytes, Rank reader);
  /// Whether a member's slot has the number of a movement, which is that of this call.
  [[gnu::always_inline]] bool has_come(const BoardOp& op, std::uint64_t number, BoardSlot& slot, Rank whose);
  bool look(const BoardOp& op, BoardSlot& slot, Rank whose) { return has_come(op, op.number(), slot, whose); }
  bool look(const BoardOp& op, Rank member) {
    const std::uint64_t number = op.number();
    return look(op, number, own(member, number), member);
  }
  /// The same of a member's own slot of the movement with this number.
  [[gnu::always_inline]] bool look(const BoardOp& op, std::uint64_t number, BoardSlot& slot, Rank member);
  // Measured: as a call it costs a short operation 8 instructions for each member that it reads from.
  [[gnu::always_inline]] const std::byte* read_payload(const BoardOp& op, Rank member, std::uint64_t bytes) {
    return read_payload(op.number(), own(member, op.number()), member, bytes);
  }
  [[gnu::always_inline]] const std::byte* read_payload(std::uint64_t number, BoardSlot& slot, Rank member,
                                                       std::uint64_t bytes);
  std::byte* my_payload(const BoardOp& op, std::uint64_t bytes) {
    return my_payload(op.number(), own(me_, op.number()), bytes);
  }
  [[gnu::always_inline]] std::byte* my_payload(std::uint64_t number, BoardSlot& slot, std::uint64_t bytes);

  /// Whether a count has what `raises` members add to it in this movement.
  bool count_is(const BoardOp& op, std::atomic<std::uint64_t>* counts,
                const std::array<std::uint64_t, kMostNarrow>& before, std::uint32_t raises);

  // board_bytes.hpp: what the operation does with bytes.

  // Of short operations. `moves` counts in tests alone: to count costs too much for a few bytes.

  /// Buffers are the same or do not overlap.
  void copy(std::byte* to, const std::byte* from, std::uint64_t bytes) noexcept;
  /// The same for what others read.
  void give(std::byte* to, const std::byte* from, std::uint64_t bytes) noexcept;

  // The same of large operations, of which all bytes count that are read or written.
  void copy_long(std::byte* to, const std::byte* from, std::uint64_t bytes) noexcept;
  void give_long(std::byte* to, const std::byte* from, std::uint64_t bytes) noexcept;
  /// Combines as many of `sources_`, in their order.
  void fold_sources(const BoardOp& op, std::byte* to, std::size_t sources, std::uint64_t bytes) noexcept;
  /// By a copy of the system. False: as MappedBoards::fetch.
  bool fetch(Rank member, std::byte* to, const std::byte* from, std::uint64_t bytes) noexcept;
  // Out of another member's memory, and into it, in large operations.
  /// False: the member, or its memory, is not there any more.
  bool read(Rank member, std::byte* to, Place from, std::uint64_t bytes) noexcept;
  void copy_from(Rank member, std::byte* to, const std::byte* from, std::uint64_t bytes) noexcept;
  void write(Rank member, std::byte* to, const std::byte* from, std::uint64_t bytes) noexcept;
  /// This member's contribution, as it travels.
  void contribute(const BoardOp& op, std::byte* to) noexcept;
  /// The same where it is now, unless it travels in another type.
  const std::byte* contribution(const BoardOp& op) noexcept;
  /// A result, as it has travelled.
  void deliver(const BoardOp& op, const std::byte* from) noexcept;
  void combine(const BoardOp& op, std::byte* to, const std::byte* left, const std::byte* right) noexcept;
  /// Where partial results of this member are: in its output, unless they travel in another type.
  std::byte* partial(const BoardOp& op) noexcept {
    return op.combiner->narrow != nullptr ? there_.data() : op.out;
  }
  /// Adds the contribution of the member `at` to those before it. `zero`: that of member 0, if it is not in the partial result.
  void accumulate(const BoardOp& op, Rank at, const std::byte* zero, const std::byte* its) noexcept;

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

  [[gnu::always_inline]] bool go_on(BoardOp& op, const BoardPlan& plan, const Movement& movement) {
    // Most short operations. The processor predicts one branch better than a jump with many targets.
    if (movement.move == Move::exchange) [[likely]]
      return exchange(op, plan, movement);
    switch (movement.move) {
      case Move::exchange: return exchange(op, plan, movement);
      case Move::up: return up(op, plan, movement);
      case Move::down: return down(op, plan, movement);
      case Move::meet: return meet_root(op, plan, movement);
      case Move::tree_up: return tree_up(op, plan, movement);
      case Move::tree_down: return tree_down(op, plan, movement);
      case Move::last: return last(op, plan, movement);
      case Move::round: return round(op, plan, movement);
      case Move::help: return help(op, plan, movement);
      case Move::tell: return tell_helped(op, plan, movement);
      case Move::chain: return chain(op, plan, movement);
      case Move::work: return work(op, plan, movement);
      case Move::partners: return wait_for(op, plan.domains.partners);
      case Move::mates: return wait_for(op, plan.domains.mates());
      case Move::collect: return collect(op, plan, movement);
      case Move::cross: return cross(op, plan, movement);
      case Move::spread: return spread(op, plan, movement);
    }
    return true;
  }

  // board_moves.hpp: short operations, whose bytes travel on the board.
  bool exchange(BoardOp& op, const BoardPlan& plan, const Movement& movement);
  bool up(BoardOp& op, const BoardPlan& plan, const Movement& movement);
  bool down(BoardOp& op, const BoardPlan& plan, const Movement& movement);
  bool meet_root(BoardOp& op, const BoardPlan& plan, const Movement& movement);
  bool tree_up(BoardOp& op, const BoardPlan& plan, const Movement& movement);
  bool tree_down(BoardOp& op, const BoardPlan& plan, const Movement& movement);
  bool last(BoardOp& op, const BoardPlan& plan, const Movement& movement);
  bool round(BoardOp& op, const BoardPlan& plan, const Movement& movement);
  bool help(BoardOp& op, const BoardPlan& plan, const Movement& movement);
  bool tell_helped(BoardOp& op, const BoardPlan& plan, const Movement& movement);
  bool chain(BoardOp& op, const BoardPlan& plan, const Movement& movement);
  void take(const BoardOp& op, Rank from, const std::byte* its);

  // board_lines_by_domains.hpp: short all-gathers of which few lines cross the borders of memory.
  bool collect(BoardOp& op, const BoardPlan& plan, const Movement& movement);
  bool cross(BoardOp& op, const BoardPlan& plan, const Movement& movement);
  bool spread(BoardOp& op, const BoardPlan& plan, const Movement& movement);

  // board_large.hpp: members access each other's buffers.
  bool begin_work(BoardOp& op, const BoardPlan& plan);
  bool work(BoardOp& op, const BoardPlan& plan, const Movement& movement);
  bool move_directly(BoardOp& op, const BoardPlan& plan, std::uint32_t stage);
  void copy_own(const BoardOp& op, const BoardPlan& plan) noexcept;
  template <class Act>
  bool each_other(const BoardPlan& plan, const Act& act) const;
  bool read_blocks(const BoardOp& op, const BoardPlan& plan);
  bool write_blocks(const BoardOp& op, const BoardPlan& plan);
  bool stage_broadcast(const BoardOp& op, const BoardPlan& plan, std::uint32_t stage);

  // board_buffers.hpp: where these are.
  void show(BoardOp& op, const BoardPlan& plan);
  void learn(const BoardOp& op, Rank member);
  BoardOp::Way way_of(const BoardPlan& plan) const noexcept;
  void tell(const BoardOp& op, const BoardNotes& notes);
  bool meet(BoardOp& op, const BoardPlan& plan, BoardOp::Way& way);
  bool push_from_root(const BoardOp& op, const BoardPlan& plan);
  bool reach(Rank member, const BufferNote& note, std::uint64_t bytes, Place& place);
  bool reach_all(const BoardPlan& plan);
  bool anybody_left(const BoardOp& op);

  // board_tiles.hpp: reductions.
  std::uint32_t count_far() const noexcept;
  bool fold(const BoardOp& op, std::byte* to, std::uint64_t shift, std::uint64_t bytes, std::uint32_t far);
  bool fold_tile(const BoardOp& op, const BoardPlan& plan, Rank block, std::uint64_t tile);
  bool combine_tiles(BoardOp& op, const BoardPlan& plan);
  bool claim_tiles(BoardOp& op, const BoardPlan& plan);
  std::uint64_t add_to_tiles(std::atomic<std::uint64_t>& word, std::uint64_t number, std::uint64_t add,
                             std::uint64_t most);

  // board_stream.hpp: what goes through the board.
  bool go_through_board(BoardOp& op, const BoardPlan& plan);
  void fill_piece(const BoardOp& op, const BoardPlan& plan, const BoardPiece& piece);
  void take_piece(const BoardOp& op, const BoardPlan& plan, const BoardPiece& piece);

  // board_up_tree.hpp: reductions up a tree.
  bool is_read_in_place(const BoardOp& op, const BoardPlan& plan) const noexcept;
  bool tell_the_tree(BoardOp& op, const BoardPlan& plan);
  bool pass_up(BoardOp& op, const BoardPlan& plan, std::uint64_t begin, std::uint64_t bytes);
  bool pass_result_on(BoardOp& op, const BoardPlan& plan, std::uint64_t begin, std::uint64_t bytes);
  bool reduce_up_tree(BoardOp& op, const BoardPlan& plan);

  // board_by_domains.hpp: few bytes cross the borders of memory.
  bool pass_down(BoardOp& op, const BoardPlan& plan);
  bool hear_offer(BoardOp& op, const BoardPlan& plan);
  bool read_pieces(BoardOp& op, const BoardPlan& plan);
  bool can_go_by_domains(const BoardPlan& plan) const noexcept;
  bool go_by_domains(BoardOp& op, const BoardPlan& plan, std::uint32_t stage);
  bool reduce_by_domains(BoardOp& op, const BoardPlan& plan);
  bool gather_by_domains(const BoardOp& op, const BoardPlan& plan, std::uint32_t stage);
  bool reduce_scatter_by_domains(BoardOp& op, const BoardPlan& plan);
  void fold_mates(const BoardOp& op, const BoardPlan& plan, std::byte* to, std::uint64_t at,
                  std::uint64_t bytes);
  void fold_partials(const BoardOp& op, const BoardPlan& plan, std::uint64_t tile);
  bool wait_for(BoardOp& op, std::span<const Rank> members);

  Access access_;
  const BoardRoom room_;
  const Rank ranks_;
  const Rank me_;
  std::uint64_t given_ = 0;
  std::uint64_t ended_ = 0;
  std::uint64_t left_ = 0;       ///< as BoardHead::left
  std::uint64_t waited_in_ = 0;  ///< the last movement in which this member had to wait
  std::uint64_t known_all_ = 0;  ///< all members have ended the movements up to this one
  bool disagrees_ = false;
  Rank waits_for_ = kNoRank;
  Rank behind_ = 0;  ///< the member that shares_processor_with_one_behind has found last
  // [slot] of what this member has published last: in its line, and beside it.
  std::vector<Reading> readers_;
  std::array<Reading, kMostNarrow> bulk_readers_{};
  // [slot]
  std::array<std::uint64_t, kMostNarrow>
      all_read_inbox_{};                             ///< a movement in which all read member 0's inbox
  std::array<std::uint64_t, kMostNarrow> pushed_{};  ///< what has been added to this member's count
  std::array<std::uint64_t, kMostNarrow> last_{};    ///< likewise, to member 0's count of all
  std::vector<std::uint64_t>
      done_;  ///< [member] it has ended the movements up to this one, as far as is known
  UntouchedBytes
      here_;  ///< this member's contribution, or what it has combined, or what the system has copied
  UntouchedBytes there_;  ///< partial results that travel in another type, or what the system has copied
  // Of a large operation.
  std::vector<BoardNotes> notes_;     ///< [member]
  std::vector<Places> places_;        ///< [member]
  std::vector<const void*> sources_;  ///< what is combined, in this order
};

}  // namespace aqueduct::coll

#include "coll/shared/board_blocks_by_domains.hpp"
#include "coll/shared/board_buffers.hpp"
#include "coll/shared/board_by_domains.hpp"
#include "coll/shared/board_bytes.hpp"
#include "coll/shared/board_large.hpp"
#include "coll/shared/board_lines_by_domains.hpp"
#include "coll/shared/board_moves.hpp"
#include "coll/shared/board_slots.hpp"
#include "coll/shared/board_stream.hpp"
#include "coll/shared/board_tiles.hpp"
#include "coll/shared/board_up_tree.hpp"
