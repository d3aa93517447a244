#pragma once

#include "coll/shared/board_of.hpp"

// Large operations: members tell each other where their buffers are, and then move and combine bytes without a copy in
// between. Inputs that are not mapped are written into outputs by their owner, or copied by the system; if neither can be, bytes
// go through the board in pieces, each of them a movement of its own.

namespace aqueduct::coll {

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
  if (plan.method == BoardMethod::domains) return pass_down(op, plan);
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

/// Inputs that this member reads by copies of the system.
template <class Access>
std::uint32_t BoardOf<Access>::count_far() const noexcept {
  return static_cast<std::uint32_t>(
      std::count_if(places_.begin(), places_.end(), [](const Places& one) { return one.in.far; }));
}

/// Combines contributions from `shift` on into `to`, in team order and in one pass: some elements are rounded at its end. False:
/// one of them is out of reach now. `far`: count_far().
template <class Access>
bool BoardOf<Access>::fold(const BoardOp& op, std::byte* to, std::uint64_t shift, std::uint64_t bytes,
                           std::uint32_t far) {
  // Half of what is copied goes to each of the two buffers.
  std::uint32_t copied = 0;
  const std::uint32_t first_half = (far + 1) / 2;
  for (Rank i = 0; i < ranks_; ++i) {
    const Place from = places_[i].in + shift;
    sources_[i] = from.at;
    if (from.far) {
      std::byte* const place =
          copied < first_half ? here_.data() + copied * bytes : there_.data() + (copied - first_half) * bytes;
      if (!fetch(i, place, from.at, bytes)) return false;
      sources_[i] = place;
      ++copied;
    }
    if (i != me_) access_.have_read(i, bytes);
  }
  access_.reads(to, bytes);
  fold_sources(op, to, ranks_, bytes);
  return true;
}

/// Combines a tile of all members' contributions, in team order, and puts the result where it belongs.
template <class Access>
bool BoardOf<Access>::fold_tile(const BoardOp& op, const BoardPlan& plan, Rank block, std::uint64_t tile) {
  const bool blocks = plan.operation == Operation::reduce_scatter;
  const std::uint64_t end = std::min(plan.bytes, (tile + 1) * op.tile_bytes);
  const std::uint32_t far = count_far();
  const std::uint64_t most = far == 0 ? plan.at_once : here_.size() / ((far + 1) / 2);
  const std::uint64_t at_once = std::max<std::uint64_t>(most / plan.element, 1) * plan.element;
  const std::uint64_t shift = blocks ? block * plan.bytes : 0;
  const Rank receiver = blocks ? block : plan.operation == Operation::reduce ? plan.root : me_;
  for (std::uint64_t at = tile * op.tile_bytes; at < end; at += at_once) {
    const std::uint64_t bytes = std::min(at_once, end - at);
    std::byte* const to = places_[receiver].out.at + at;
    if (!fold(op, to, shift + at, bytes, far)) return false;
    if (receiver != me_) access_.have_written(receiver, bytes);
    if (plan.operation != Operation::all_reduce) continue;
    for (Rank i = 0; i < ranks_; ++i) {
      if (i != me_) write(i, places_[i].out.at + at, to, bytes);
    }
  }
  return true;
}

/// Tiles in turn: tile t is that of member t modulo the number of members. Of a reduce-scatter, each its own block. Of a reduce
/// whose output is mapped nowhere else, all are the root's.
template <class Access>
bool BoardOf<Access>::combine_tiles(BoardOp& op, const BoardPlan& plan) {
  const bool blocks = plan.operation == Operation::reduce_scatter;
  const bool of_root = plan.operation == Operation::reduce && !notes_[plan.root].out.mapped();
  if (of_root && me_ != plan.root) return true;
  const bool alone = blocks || of_root;
  const std::uint64_t tiles = op.tiles();
  for (; op.tile * (alone ? 1 : ranks_) < tiles; ++op.tile) {
    const std::uint64_t tile = alone ? op.tile : op.tile * ranks_ + me_;
    if (tile >= tiles) break;
    if (anybody_left(op) || !fold_tile(op, plan, me_, tile)) return false;
  }
  return !anybody_left(op);
}

/// Adds to a word of tiles, whose number this may be the first to use. Returns what was there before; `most`: there is nothing
/// left to add.
template <class Access>
std::uint64_t BoardOf<Access>::add_to_tiles(std::atomic<std::uint64_t>& word, std::uint64_t number,
                                            std::uint64_t add, std::uint64_t most) {
  constexpr std::uint64_t kMask = (std::uint64_t{1} << kTileBits) - 1;
  while (true) {
    const std::uint64_t value = access_.load(word);
    const std::uint64_t whose = value >> kTileBits;
    if (whose > number) return most;
    const std::uint64_t before = whose == number ? value & kMask : 0;
    if (before >= most) return most;
    if (access_.swap(word, value, number << kTileBits | (before + add))) return before;
  }
}

/// Whoever runs takes the next tile, until none is left; then waits until all are combined.
template <class Access>
bool BoardOf<Access>::claim_tiles(BoardOp& op, const BoardPlan& plan) {
  const std::uint64_t number = op.number();
  const std::uint64_t all = op.tiles() * (plan.operation == Operation::reduce_scatter ? ranks_ : 1);
  if (all == 0) return true;  // nobody would raise a word
  BoardTiles& tiles = access_.tiles(0);
  while (op.tile == 0) {
    if (anybody_left(op)) return false;
    const std::uint64_t mine = add_to_tiles(tiles.claimed, number, 1, all);
    if (mine == all) {
      op.tile = 1;  // there are no more
      break;
    }
    // If it fails, the tile is lost, and so is the member whose part it needs, or the board.
    if (!fold_tile(op, plan, static_cast<Rank>(mine / op.tiles()), mine % op.tiles())) return false;
    ++op.claimed;
  }
  if (op.claimed != 0) {
    const std::uint64_t before = add_to_tiles(tiles.done, number, op.claimed, all);
    const bool last = before + std::exchange(op.claimed, 0) == all;
    if (last) access_.wake_all();
  }
  waits_for_ = kNoRank;
  return access_.load(tiles.done) >= (number << kTileBits | all);
}

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
inline BoardPiece piece_of(const BoardPlan& plan, std::uint32_t index) noexcept {
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
