#pragma once

#include "coll/shared/board_of.hpp"

// Operations in which each member has a block of its own, by domains of memory. One member of each other domain looks after a
// block, so it crosses the borders once for each of these: with p members in s domains, and blocks of m bytes, p (s - 1) m bytes
// cross.

namespace aqueduct::coll {

/// First each member reads the blocks that it looks after, and those of its own domain; then the others from the members of its
/// domain.
template <class Access>
bool BoardOf<Access>::gather_by_domains(const BoardOp& op, const BoardPlan& plan, std::uint32_t stage) {
  const BoardDomains& domains = plan.domains;
  const auto take = [&](Rank block, Rank from, Place place) {
    access_.reads(op.out + block * plan.bytes, plan.bytes);
    copy_from(from, op.out + block * plan.bytes, place.at, plan.bytes);
  };
  if (stage == 0) {
    domains.each_in_care([&](Rank other) { take(other, other, places_[other].in); });
    const std::span<const Rank> mates = domains.mates();
    for (std::uint64_t i = 1; i < mates.size(); ++i) {
      const Rank mate = mates[(domains.index + i) % mates.size()];
      take(mate, mate, places_[mate].in);
    }
    return !anybody_left(op);
  }
  for (std::uint32_t i = 1; i < domains.count; ++i) {
    const std::uint32_t domain = (domains.mine + i) % domains.count;
    const std::uint32_t size = domains.size(domain);
    for (std::uint64_t k = 0; k < size; ++k) {
      const std::uint64_t index = (domains.index + k) % size;
      const Rank carer = domains.owner(domains.mine, index);
      const Rank block = domains.members(domain)[index];
      if (carer != me_) take(block, carer, places_[carer].out + block * plan.bytes);
    }
  }
  return !anybody_left(op);
}

/// Each member combines what its domain has of the blocks that it looks after, and puts it on the board, a strip of each at a
/// time. Of its own block it combines what the other domains have put there with its domain's inputs.
template <class Access>
bool BoardOf<Access>::reduce_scatter_by_domains(BoardOp& op, const BoardPlan& plan) {
  const BoardDomains& domains = plan.domains;
  while (true) {
    const std::uint64_t begin = std::min(plan.bytes, op.piece * plan.strip);
    const std::uint64_t bytes = std::min(plan.strip, plan.bytes - begin);
    if (!op.shown) {
      if (!may_publish(op, room_.payload())) return false;
      if (anybody_left(op)) return false;
      std::byte* to = place_of_piece(me_, op.number());
      access_.writes(to, room_.payload());
      domains.each_in_care([&](Rank block) {
        fold_mates(op, plan, to, block * plan.bytes + begin, bytes);
        access_.have_staged(bytes);
        to += plan.strip;
      });
      publish(op, room_.payload());
      for (const Rank partner : domains.partners) access_.wake(partner);
      op.shown = true;
    }
    for (; op.at < domains.partners.size(); ++op.at) {
      if (!look(op, domains.partners[op.at])) return false;
    }
    const std::uint64_t shift = me_ * plan.bytes + begin;
    std::size_t sources = 0;
    for (std::uint32_t domain = 0; domain < domains.count; ++domain) {
      if (domain == domains.mine) {
        for (const Rank mate : domains.mates()) {
          sources_[sources++] = places_[mate].in.at + shift;
          if (mate != me_) access_.have_read(mate, bytes);
        }
        continue;
      }
      const Rank carer = domains.owner(domain, domains.index);
      const std::byte* const its = place_of_piece(carer, op.number()) + domains.place[domain] * plan.strip;
      access_.reads(its, bytes);
      access_.have_read(carer, bytes);
      sources_[sources++] = its;
    }
    fold_sources(op, op.out + begin, sources, bytes);
    if (anybody_left(op)) return false;
    if (op.piece + 1 == plan.strips) return true;
    next_piece(op);
  }
}

}  // namespace aqueduct::coll
