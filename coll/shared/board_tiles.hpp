#pragma once

#include "coll/shared/board_of.hpp"

// Large reductions go tile by tile: members combine tiles in turn, or whoever is free takes the next one.

namespace aqueduct::coll {

/// Inputs that this member reads by copies of the system.
template <class Access>
std::uint32_t BoardOf<Access>::count_far() const noexcept {
  return static_cast<std::uint32_t>(
      std::count_if(places_.begin(), places_.end(), [](const Places& one) { return one.in.far; }));
}

/// Combines contributions from `shift` on into `to`, in one pass: some elements are rounded at its end. In team order; by cyclic
/// tiles from this member's own contribution on, so that members do not all read the same one first. False: one of them is out of
/// reach now. `far`: count_far().
template <class Access>
bool BoardOf<Access>::fold(const BoardOp& op, std::byte* to, std::uint64_t shift, std::uint64_t bytes,
                           std::uint32_t far) {
  // Half of what is copied goes to each of the two buffers.
  std::uint32_t copied = 0;
  const std::uint32_t first_half = (far + 1) / 2;
  const Rank first = op.plan->method == BoardMethod::cyclic_tiles ? me_ : 0;
  for (Rank at = 0; at < ranks_; ++at) {
    const Rank i = at + first < ranks_ ? at + first : at + first - ranks_;
    const Place from = places_[i].in + shift;
    sources_[at] = from.at;
    if (from.far) {
      std::byte* const place =
          copied < first_half ? here_.data() + copied * bytes : there_.data() + (copied - first_half) * bytes;
      if (!fetch(i, place, from.at, bytes)) return false;
      sources_[at] = place;
      ++copied;
    }
    if (i != me_) access_.have_read(i, bytes);
  }
  access_.reads(to, bytes);
  fold_sources(op, to, ranks_, bytes);
  return true;
}

/// Combines a tile of all members' contributions, and puts the result where it belongs.
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

}  // namespace aqueduct::coll
