#pragma once

#include "coll/shared/board_of.hpp"

#include <cstring>

// Large operations that keep to domains of memory, so that few bytes cross the borders between these. With s domains a broadcast
// of m bytes crosses them s - 1 times, as does a reduce; an all-reduce does twice that.

namespace aqueduct::coll {

/// Says that this member's stage is over, and waits for the members whose part it needs.
template <class Access>
bool BoardOf<Access>::wait_for(BoardOp& op, std::span<const Rank> members) {
  if (!op.shown) {
    if (!may_publish(op, 0)) return false;
    publish(op, 0);
    for (const Rank member : members) {
      if (member != me_) access_.wake(member);
    }
    op.shown = true;
  }
  for (; op.at < members.size(); ++op.at) {
    if (members[op.at] != me_ && !look(op, members[op.at])) return false;
  }
  return true;
}

// A broadcast: each member reads from its parent in a tree of the domains. The root offers its input, the others their outputs,
// of which they say piece by piece what is there. A member whose output is out of reach passes on the offer that it has.

/// The first piece: learns where the block is, and tells the members below.
template <class Access>
bool BoardOf<Access>::hear_offer(BoardOp& op, const BoardPlan& plan) {
  const bool is_root = plan.parent == kNoRank;
  if (op.at == 0 && !is_root) {
    if (!look(op, plan.parent)) return false;
    const std::byte* const said = own(plan.parent, op.number()).payload;
    access_.reads(said, sizeof op.offer);
    std::memcpy(&op.offer, said, sizeof op.offer);
  }
  op.at = 1;
  if (!plan.children.empty()) {
    if (!may_publish(op, 0)) return false;
    BoardOffer mine = op.offer;
    if (is_root)
      mine = {.note = op.notes.in, .owner = me_, .whole = 1};
    else if (op.offer.note.reached() && op.notes.out.reached())
      mine = {.note = op.notes.out, .owner = me_, .whole = 0};
    if (is_root) op.offer = mine;
    std::byte* const place = own(me_, op.number()).payload;
    access_.writes(place, sizeof mine);
    std::memcpy(place, &mine, sizeof mine);
    publish(op, 0);
    for (const Rank child : plan.children) access_.wake(child);
  }
  op.way = op.offer.note.reached() ? BoardOp::Way::direct : BoardOp::Way::through_board;
  next_piece(op);
  return true;
}

/// The pieces after it. A member that has offered its output says which it has.
template <class Access>
bool BoardOf<Access>::read_pieces(BoardOp& op, const BoardPlan& plan) {
  const bool tells = !plan.children.empty() && op.notes.out.reached();
  const BoardOffer& offer = op.offer;
  Place from;
  if (!reach(offer.owner, offer.note, plan.bytes, from)) return false;
  for (std::uint64_t at = (op.piece - 1) * plan.tile; at < plan.bytes; at += plan.tile) {
    const std::uint64_t bytes = std::min(plan.tile, plan.bytes - at);
    if (op.at == 0) {
      if (offer.whole == 0 && !look(op, offer.owner)) return false;
      access_.reads(op.out + at, bytes);
      if (!read(offer.owner, op.out + at, from + at, bytes) || anybody_left(op)) return false;
      op.at = 1;
    }
    if (tells) {
      if (!may_publish(op, 0)) return false;
      publish(op, 0);
      // Not only the children: they may have passed the offer on.
      access_.wake_all();
    }
    if (at + plan.tile >= plan.bytes) break;
    next_piece(op);
  }
  return true;
}

template <class Access>
bool BoardOf<Access>::pass_down(BoardOp& op, const BoardPlan& plan) {
  if (op.way == BoardOp::Way::unknown && !hear_offer(op, plan)) return false;
  if (op.way == BoardOp::Way::through_board) {
    if (!go_through_board(op, plan)) return false;
  } else if (me_ != plan.root && plan.bytes != 0 && !read_pieces(op, plan)) {
    return false;
  }
  copy_own(op, plan);
  op.piece = plan.pieces - 1;
  op.at = 0;
  op.shown = false;
  return true;
}

// Reductions. In each domain one member combines a tile of what the domain's members have. Then partial results are combined by
// those who have the care of the same tile in the other domains.

/// A part of a block: of a tile, or of a share of one.
struct BoardPart {
  std::uint64_t begin = 0;
  std::uint64_t bytes = 0;
};
/// One of `parts` parts of a part; borders are multiples of the unit, counted from its beginning.
inline BoardPart part_of(BoardPart all, std::uint64_t unit, std::uint64_t index,
                         std::uint64_t parts) noexcept {
  const std::uint64_t units = (all.bytes + unit - 1) / unit;
  const std::uint64_t begin = std::min(all.bytes, units * index / parts * unit);
  const std::uint64_t end = std::min(all.bytes, units * (index + 1) / parts * unit);
  return {all.begin + begin, end - begin};
}
inline BoardPart tile_of(const BoardPlan& plan, std::uint64_t tile) noexcept {
  return part_of({0, plan.bytes}, plan.unit, tile, plan.domains.tiles);
}
/// The share of a tile of which a domain's member makes the result.
inline BoardPart share_of(const BoardPlan& plan, std::uint64_t tile, std::uint32_t domain) noexcept {
  return part_of(tile_of(plan, tile), plan.unit, domain, plan.domains.count);
}

/// Whether members can read all that they must.
template <class Access>
bool BoardOf<Access>::can_go_by_domains(const BoardPlan& plan) const noexcept {
  const bool mapped =
      std::all_of(notes_.begin(), notes_.end(), [](const BoardNotes& one) { return one.in.mapped(); });
  if (plan.operation == Operation::reduce) return mapped && notes_[plan.root].out.mapped();
  if (plan.operation == Operation::all_to_all) return false;  // each block crosses once as it is
  if (plan.operation == Operation::all_gather) {
    // A member without an input that the others map has its block in its output.
    return std::all_of(notes_.begin(), notes_.end(), [](const BoardNotes& one) { return one.out.mapped(); });
  }
  return mapped;  // way_of asks for the outputs
}

/// Combines some bytes of what this member's domain has.
template <class Access>
void BoardOf<Access>::fold_mates(const BoardOp& op, const BoardPlan& plan, std::byte* to, std::uint64_t at,
                                 std::uint64_t bytes) {
  std::size_t sources = 0;
  for (const Rank mate : plan.domains.mates()) {
    sources_[sources++] = places_[mate].in.at + at;
    if (mate != me_) access_.have_read(mate, bytes);
  }
  access_.reads(to, bytes);
  fold_sources(op, to, sources, bytes);
}

/// Combines this member's share of a tile of all domains.
template <class Access>
void BoardOf<Access>::fold_partials(const BoardOp& op, const BoardPlan& plan, std::uint64_t tile) {
  const BoardPart share = share_of(plan, tile, plan.domains.mine);
  std::size_t sources = 0;
  for (std::uint32_t domain = 0; domain < plan.domains.count; ++domain) {
    const Rank owner = plan.domains.owner(domain, tile);
    sources_[sources++] = places_[owner].out.at + share.begin;
    if (owner != me_) access_.have_read(owner, share.bytes);
  }
  access_.reads(op.out + share.begin, share.bytes);
  fold_sources(op, op.out + share.begin, sources, share.bytes);
}

template <class Access>
bool BoardOf<Access>::go_by_domains(BoardOp& op, const BoardPlan& plan, std::uint32_t stage) {
  const BoardDomains& domains = plan.domains;
  if (plan.operation == Operation::reduce) return reduce_by_domains(op, plan);
  if (plan.operation == Operation::reduce_scatter) return reduce_scatter_by_domains(op, plan);
  if (plan.operation == Operation::all_gather) return gather_by_domains(op, plan, stage);
  if (anybody_left(op)) return false;
  const auto each_of_mine = [&](auto act) {
    for (std::uint64_t tile = domains.index; tile < domains.tiles; tile += domains.size(domains.mine))
      act(tile);
  };
  const auto take = [&](Rank owner, BoardPart part) {
    access_.reads(op.out + part.begin, part.bytes);
    copy_from(owner, op.out + part.begin, places_[owner].out.at + part.begin, part.bytes);
  };
  switch (stage) {
    case 0:
      each_of_mine([&](std::uint64_t tile) {
        const BoardPart part = tile_of(plan, tile);
        fold_mates(op, plan, op.out + part.begin, part.begin, part.bytes);
      });
      break;
    case 1: each_of_mine([&](std::uint64_t tile) { fold_partials(op, plan, tile); }); break;
    case 2:
      each_of_mine([&](std::uint64_t tile) {
        for (std::uint32_t i = 1; i < domains.count; ++i) {
          const std::uint32_t domain = (domains.mine + i) % domains.count;
          take(domains.owner(domain, tile), share_of(plan, tile, domain));
        }
      });
      break;
    default:
      for (std::uint64_t i = 0; i < domains.tiles; ++i) {
        const std::uint64_t tile = (domains.index + i) % domains.tiles;
        const Rank owner = domains.owner(domains.mine, tile);
        if (owner != me_) take(owner, tile_of(plan, tile));
      }
      break;
  }
  return !anybody_left(op);
}

/// Members of other domains than the root's put what they have combined on the board, a strip of each of their tiles at a time.
/// Those of the root's domain combine it with their domain's inputs, in the root's output.
template <class Access>
bool BoardOf<Access>::reduce_by_domains(BoardOp& op, const BoardPlan& plan) {
  const BoardDomains& domains = plan.domains;
  const std::uint32_t size = domains.size(domains.mine);
  const bool with_root = std::ranges::find(domains.mates(), plan.root) != domains.mates().end();
  while (true) {
    const std::uint64_t done = op.piece * plan.strip;
    const auto strip_of = [&](std::uint64_t tile) {
      const BoardPart all = tile_of(plan, tile);
      return done >= all.bytes ? BoardPart{}
                               : BoardPart{all.begin + done, std::min(plan.strip, all.bytes - done)};
    };
    if (!with_root) {
      if (!may_publish(op, room_.payload())) return false;
      if (anybody_left(op)) return false;
      std::byte* to = place_of_piece(me_, op.number());
      access_.writes(to, room_.payload());
      for (std::uint64_t tile = domains.index; tile < domains.tiles; tile += size, to += plan.strip) {
        const BoardPart part = strip_of(tile);
        if (part.bytes != 0) fold_mates(op, plan, to, part.begin, part.bytes);
        access_.have_staged(part.bytes);
      }
      publish(op, room_.payload());
      for (const Rank partner : domains.partners) access_.wake(partner);
    } else {
      for (; op.at < domains.partners.size(); ++op.at) {
        if (!look(op, domains.partners[op.at])) return false;
      }
      if (anybody_left(op)) return false;
      for (std::uint64_t tile = domains.index; tile < domains.tiles; tile += size) {
        const BoardPart part = strip_of(tile);
        if (part.bytes == 0) continue;
        std::size_t sources = 0;
        for (std::uint32_t domain = 0; domain < domains.count; ++domain) {
          if (domain == domains.mine) {
            for (const Rank mate : domains.mates()) {
              sources_[sources++] = places_[mate].in.at + part.begin;
              if (mate != me_) access_.have_read(mate, part.bytes);
            }
            continue;
          }
          const Rank owner = domains.owner(domain, tile);
          const std::byte* const its =
              place_of_piece(owner, op.number()) + tile / domains.size(domain) * plan.strip;
          access_.reads(its, part.bytes);
          access_.have_read(owner, part.bytes);
          sources_[sources++] = its;
        }
        std::byte* const to = places_[plan.root].out.at + part.begin;
        fold_sources(op, to, sources, part.bytes);
        if (me_ != plan.root) access_.have_written(plan.root, part.bytes);
      }
      if (anybody_left(op)) return false;
    }
    if (op.piece + 1 == plan.strips) return true;
    next_piece(op);
  }
}

}  // namespace aqueduct::coll
