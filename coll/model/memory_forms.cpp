#include "coll/model/memory_forms.hpp"

#include <algorithm>
#include <bit>

namespace aqueduct::coll {

namespace {

/// Rounds of a tree: the smallest h with arity^h >= members.
std::uint32_t rounds_of(std::uint64_t members, std::uint64_t arity) noexcept {
  std::uint32_t rounds = 0;
  for (std::uint64_t reached = 1; reached < members; reached *= arity) ++rounds;
  return rounds;
}

std::uint64_t power(std::uint64_t base, std::uint32_t exponent) noexcept {
  std::uint64_t out = 1;
  while (exponent-- != 0) out *= base;
  return out;
}

}  // namespace

LineTime access(const LineCost& cost, std::uint64_t sharers) noexcept {
  return {cost.first, std::max(cost.each, cost.shared * sharers)};
}

std::uint64_t transfers_at_once(std::uint64_t members, std::uint32_t arity, std::uint32_t round,
                                std::uint32_t child) noexcept {
  // Parents are at multiples of arity × stride, and their child is there.
  const std::uint64_t stride = power(arity, round);
  const std::uint64_t first = child * stride;
  return first < members ? (members - first - 1) / (arity * stride) + 1 : 0;
}

LineTime reduce_by_tree(const MemoryMachine& machine, std::uint32_t arity) noexcept {
  LineTime time;
  for (std::uint32_t round = 0; round < rounds_of(machine.members, arity); ++round) {
    for (std::uint32_t child = 1; child < arity; ++child) {
      const std::uint64_t at_once = transfers_at_once(machine.members, arity, round, child);
      if (at_once != 0) time = time + access(machine.inside, at_once);
    }
  }
  for (std::uint32_t round = 0; round < rounds_of(machine.domains, arity); ++round) {
    for (std::uint32_t child = 1; child < arity; ++child) {
      if (transfers_at_once(machine.domains, arity, round, child) != 0)
        time = time + LineTime{machine.across.first, machine.across.each};
    }
  }
  return time;
}

LineTime reduce_by_tiles(const MemoryMachine& machine) noexcept {
  // A member reads its tile, one of `members`, of each member of its domain. All do, so they share the link.
  const LineTime inside{machine.members * machine.inside.first, access(machine.inside, machine.members).each};
  // Across, each reads its tile alone: a `members`-th of the lines, over a link that all share.
  const std::uint64_t alone = (machine.across.each + machine.members - 1) / machine.members;
  return inside + rounds_of(machine.domains, 2) *
                      LineTime{machine.across.first, std::max(alone, machine.across.shared)};
}

LineTime broadcast_in_one_stage(const MemoryMachine& machine) noexcept {
  if (machine.all() == 1) return {};
  if (machine.domains == 1) return access(machine.inside, machine.members - 1);
  return access(machine.across, machine.members);
}

LineTime broadcast_in_two_stages(const MemoryMachine& machine) noexcept {
  LineTime time;
  if (machine.members > 1) time = access(machine.inside, machine.members - 1);
  if (machine.domains > 1) time = time + access(machine.across, 1);
  return time;
}

LineTime broadcast_by_tree(const MemoryMachine& machine, std::uint32_t arity) noexcept {
  return rounds_of(machine.domains, arity) * access(machine.across, arity - 1) +
         rounds_of(machine.members, arity) * access(machine.inside, arity - 1);
}

LineTime blocks_read_by_one(const MemoryMachine& machine) noexcept {
  return (machine.members - 1) * access(machine.inside, 1) +
         (machine.all() - machine.members) * access(machine.across, 1);
}

std::uint64_t broadcast_time(const MemoryMachine& machine, std::uint64_t lines) noexcept {
  return std::min(broadcast_in_one_stage(machine).of(lines), broadcast_in_two_stages(machine).of(lines));
}

std::uint64_t all_reduce_by_tree_time(const MemoryMachine& machine, std::uint64_t lines) noexcept {
  return reduce_by_tree(machine).of(lines) + broadcast_time(machine, lines);
}
std::uint64_t all_reduce_by_tiles_time(const MemoryMachine& machine, std::uint64_t lines) noexcept {
  return reduce_by_tiles(machine).of(lines) + broadcast_time(machine, lines);
}

LineTime all_reduce_by_rounds(const MemoryMachine& machine) noexcept {
  const std::uint64_t members = std::bit_floor(machine.members);
  const std::uint64_t domains = std::bit_floor(machine.domains);
  LineTime time = rounds_of(members, 2) * access(machine.inside, members) +
                  rounds_of(domains, 2) * access(machine.across, members);
  if (machine.members != members) time = time + 2 * access(machine.inside, machine.members - members);
  if (machine.domains != domains) time = time + 2 * access(machine.across, machine.members);
  return time;
}

std::uint64_t tiles_from(const MemoryMachine& machine) noexcept {
  const LineTime tree = reduce_by_tree(machine);
  const LineTime tiles = reduce_by_tiles(machine);
  if (tiles.fixed <= tree.fixed) return tiles.each <= tree.each ? 0 : kTilesNever;  // else short blocks only
  if (tiles.each >= tree.each) return kTilesNever;
  const std::uint64_t gain = tree.each - tiles.each;
  return (tiles.fixed - tree.fixed + gain - 1) / gain;
}

LineTime blocks_as_they_are(const MemoryMachine& machine) noexcept {
  const std::uint64_t mates = machine.members - 1;
  const std::uint64_t others = machine.all() - machine.members;
  return mates * access(machine.inside, machine.members) + others * access(machine.across, machine.members);
}

LineTime blocks_by_domains(const MemoryMachine& machine) noexcept {
  return (machine.all() - machine.domains) * access(machine.inside, machine.members) +
         (machine.domains - 1) * access(machine.across, machine.members);
}

double one_line_all_reduce(const LineLatencies& latencies, std::uint32_t domains, std::uint32_t members,
                           bool two_stages) noexcept {
  // A parent reads the child's line and its own, and writes its own; a write into the own cache takes as long as a read.
  double time = rounds_of(members, 2) * (latencies.inside + 2 * latencies.own) +
                rounds_of(domains, 2) * (latencies.across + 2 * latencies.own);
  time += (two_stages ? latencies.distant : latencies.across) + latencies.own;
  if (two_stages) time += latencies.inside + latencies.own;
  return time;
}

Crossings crossings(const MemoryMachine& machine) noexcept {
  const std::uint64_t domains = machine.domains;
  const std::uint64_t elsewhere = machine.all() - machine.members;
  Crossings out;
  out.reduce_by_tree = out.reduce_by_tiles = out.broadcast_in_two_stages = domains - 1;
  out.reduce_by_any_tiles = out.broadcast_in_one_stage = elsewhere;
  out.all_reduce_by_rounds = machine.all() * rounds_of(domains, 2);
  out.blocks_as_they_are = machine.all() * elsewhere;
  out.blocks_by_domains = machine.all() * (domains - 1);
  out.packed_blocks = domains * (domains - 1);
  return out;
}

Touches touches(const MemoryMachine& machine, std::uint64_t parents, const MessageCopies& copies) noexcept {
  // A copy touches two bytes for each, and to combine two blocks touches three.
  const std::uint64_t members = machine.all();
  const std::uint64_t rounds = rounds_of(members, 2);
  Touches out;
  if (members < 2) return out;
  out.tiles = 3 * members - 1;
  out.domain_tiles = machine.domains == 1 ? out.tiles : out.tiles + 2 * machine.domains;
  out.tree = 5 * (members - 1);
  out.tree_in_passes = 3 * (members - 1) + 2 * parents;
  // Each of two members combines all.
  out.copied_tiles = 5 * members + (members == 2 ? 0 : 1);
  out.copied_tree = 7 * members - 3 + 2 * parents;
  out.copied_rounds = 5 * members * rounds + 4 * members;
  out.messages = (2 * copies.combined + 3 + 2 * copies.kept) * (members - 1);
  out.message_rounds = (2 * copies.combined + 3) * members * rounds;
  return out;
}

}  // namespace aqueduct::coll
