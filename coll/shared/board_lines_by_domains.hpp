#pragma once

#include "coll/shared/board_of.hpp"

// Short all-gathers by domains of memory. The first member of a domain packs the blocks of its domain side by side, and those of
// two domains exchange what they have. So with s domains s (s - 1) lines cross, if the blocks of a domain fit into one; without, each
// of p members looks at those of all other domains, of q members each: p (p - q) lines.

namespace aqueduct::coll {

/// All blocks are packed in the order of the domains: where those of a domain begin.
inline std::uint64_t packed_at(const BoardPlan& plan, std::uint32_t domain) noexcept {
  return plan.domains.first[domain] * plan.bytes;
}
inline std::uint64_t packed_bytes(const BoardPlan& plan, std::uint32_t domain) noexcept {
  return plan.domains.size(domain) * plan.bytes;
}

/// Each gives its block to the first member of its domain.
template <class Access>
bool BoardOf<Access>::collect(BoardOp& op, const BoardPlan& plan, const Movement& movement) {
  const std::span<const Rank> mates = plan.domains.mates();
  const Rank first = mates.front();
  if (me_ != first) {
    const std::uint64_t bytes = payload_of(plan, movement);
    if (!may_publish(op, bytes)) return false;
    if (movement.data) contribute(op, my_payload(op, bytes));
    publish(op, bytes, first);
    access_.wake(first);
    return true;
  }
  std::byte* const packed = here_.data() + packed_at(plan, plan.domains.mine);
  if (op.at == 0) {
    if (movement.data) contribute(op, packed);
    op.at = 1;
  }
  for (; op.at < mates.size(); ++op.at) {
    if (!look(op, mates[op.at])) return false;
    if (movement.data)
      copy(packed + op.at * plan.bytes, read_payload(op, mates[op.at], plan.bytes), plan.bytes);
  }
  return true;
}

/// The first members of the domains exchange what their domains have. The others have no part in it.
template <class Access>
bool BoardOf<Access>::cross(BoardOp& op, const BoardPlan& plan, const Movement& movement) {
  const BoardDomains& domains = plan.domains;
  if (domains.index != 0) return true;
  // Each begins with another one.
  const auto other = [&](std::uint32_t i) { return (domains.mine + 1 + i) % domains.count; };
  if (!op.shown) {
    const std::uint64_t bytes = movement.data ? packed_bytes(plan, domains.mine) : 0;
    if (!may_publish(op, bytes)) return false;
    if (movement.data) give(my_payload(op, bytes), here_.data() + packed_at(plan, domains.mine), bytes);
    publish(op, bytes);
    for (std::uint32_t i = 0; i + 1 < domains.count; ++i) access_.wake(domains.members(other(i)).front());
    op.shown = true;
  }
  for (; op.at + 1 < domains.count; ++op.at) {
    const std::uint32_t domain = other(op.at);
    const Rank its_first = domains.members(domain).front();
    if (!look(op, its_first)) return false;
    if (!movement.data) continue;
    const std::uint64_t bytes = packed_bytes(plan, domain);
    copy(here_.data() + packed_at(plan, domain), read_payload(op, its_first, bytes), bytes);
  }
  return true;
}

/// The first member of a domain passes on all blocks.
template <class Access>
bool BoardOf<Access>::spread(BoardOp& op, const BoardPlan& plan, const Movement& movement) {
  const BoardDomains& domains = plan.domains;
  const std::span<const Rank> mates = domains.mates();
  const std::uint64_t bytes = movement.data ? plan.ranks * plan.bytes : 0;
  const std::byte* all = here_.data();
  if (domains.index != 0) {
    if (!look(op, mates.front())) return false;
    if (movement.data) all = read_payload(op, mates.front(), bytes);
  } else if (mates.size() > 1) {
    if (!may_publish(op, bytes)) return false;
    if (movement.data) give(my_payload(op, bytes), all, bytes);
    publish(op, bytes, mates.size() == 2 ? mates[1] : kNoRank);
    for (const Rank mate : mates.subspan(1)) access_.wake(mate);
  }
  if (!movement.data) return true;
  for (Rank i = 0; i < plan.ranks; ++i)
    copy(op.out + domains.order[i] * plan.bytes, all + i * plan.bytes, plan.bytes);
  return true;
}

}  // namespace aqueduct::coll
