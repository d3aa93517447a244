#include "coll/tune/memory_choice.hpp"

#include "coll/algorithms/algorithms.hpp"
#include "topology/placement.hpp"

#include <algorithm>
#include <span>
#include <vector>

namespace aqueduct::coll {

namespace {

/// HR-05: what the source has found on one machine, and nearly so on the other.
constexpr std::uint64_t kUsualLeastOfTiles = 16384 / 64;
/// As in BoardPlan: if there is no payload, and no more members than this, each looks at all the others.
constexpr Rank kMostThatExchange = 4;
/// Of the passes of `flags-domains`.
constexpr std::uint32_t kRadixOfEnds = 4;

std::uint64_t short_lines(std::uint64_t bytes) noexcept { return lines_of_payload(bytes); }

/// Blocks to the first member of each domain; those of a domain, packed, between these; all blocks to the others.
std::uint64_t packed_time(const Shape& shape, const MemoryMachine& machine) noexcept {
  const std::uint64_t mates = machine.members - 1;
  return mates * access(machine.inside, 1).of(short_lines(shape.bytes)) +
         (machine.domains - 1) * access(machine.across, 1).of(short_lines(machine.members * shape.bytes)) +
         access(machine.inside, mates).of(short_lines(machine.all() * shape.bytes));
}

/// What a method takes for each of the movements of short calls.
struct Ways {
  LineTime up;             ///< to the root
  LineTime down;           ///< from it
  LineTime all;            ///< everybody hears of everybody
  std::uint64_t pass = 0;  ///< `all` of a line without a payload
};
Ways flat_ways(const MemoryMachine& machine) noexcept {
  Ways out{.up = blocks_read_by_one(machine),
           .down = broadcast_in_one_stage(machine),
           .all = blocks_as_they_are(machine)};
  out.pass = machine.all() <= kMostThatExchange ? out.all.of(1) : (out.up + out.down).of(1);
  return out;
}
Ways tree_ways(const MemoryMachine& machine, std::uint32_t radix) noexcept {
  Ways out{.up = reduce_by_tree(machine, radix), .down = broadcast_by_tree(machine, radix), .all = {}};
  out.all = out.up + out.down;
  out.pass = out.all.of(1);
  return out;
}

/// With the movements of the sync modes (board_plan.cpp).
std::uint64_t time_by(const Ways& ways, const Shape& shape) noexcept {
  const std::uint64_t lines = short_lines(shape.bytes);
  const bool before = shape.in == Sync::all;
  const bool after = shape.out == Sync::all;
  switch (shape.operation) {
    case Operation::broadcast:
      return (before ? ways.up.of(1) : 0) + ways.down.of(lines) + (after ? (ways.up + ways.down).of(1) : 0);
    case Operation::reduce:
      return (before ? ways.pass : 0) + ways.up.of(lines) + (after ? ways.down.of(1) : 0);
    default: return (std::uint64_t{before} + std::uint64_t{after}) * ways.pass + ways.all.of(lines);
  }
}

}  // namespace

MemoryDomains memory_domains(const topology::Placement& placement) noexcept {
  const std::vector<topology::Placement::Cut>& cuts = placement.cuts();
  const topology::Placement::Cut& cut = cuts.back();
  MemoryDomains out{.count = cut.groups(), .smallest = cut.size(0), .largest = cut.size(0)};
  for (std::uint32_t i = 1; i < cut.groups(); ++i) {
    out.smallest = std::min(out.smallest, cut.size(i));
    out.largest = std::max(out.largest, cut.size(i));
  }
  out.in_team_order = placement.is_in_order();
  out.placed = &placement;
  return out;
}

std::uint32_t levels_by_domains(const MemoryDomains& domains, std::uint32_t radix) noexcept {
  std::uint32_t levels = levels_of_tree(domains.largest, radix);
  if (domains.placed == nullptr) return levels + levels_of_tree(domains.count, radix);
  const std::vector<topology::Placement::Cut>& cuts = domains.placed->cuts();
  for (std::size_t level = 0; level < cuts.size(); ++level) {
    // The most domains of this level that lie in one of the level before.
    std::uint32_t most = 0, before = ~std::uint32_t{0}, in_one = 0;
    for (const std::uint32_t label : std::span(cuts[level].first).first(cuts[level].groups())) {
      const std::uint32_t wider = level == 0 ? 0 : cuts[level - 1].group_of(label);
      in_one = wider == before ? in_one + 1 : 1;
      before = wider;
      most = std::max(most, in_one);
    }
    levels += levels_of_tree(most, radix);
  }
  return levels;
}

MemoryMachine assumed_machine(const MemoryDomains& domains) noexcept {
  MemoryMachine out = domains.count == 2 ? kTwoDomainsOfSix : kFourDomainsOfEight;
  out.domains = domains.count;
  out.members = domains.largest;
  return out;
}

std::optional<std::uint64_t> time_of_bytes(BoardMethod method, const Shape& shape,
                                           const MemoryMachine& machine, std::uint32_t radix) noexcept {
  const std::uint64_t lines = (shape.bytes + 63) / 64;
  const auto of = [&](LineTime time) { return std::optional(time.of(lines)); };
  switch (shape.operation) {
    case Operation::broadcast:
      if (method == BoardMethod::mapped) return of(broadcast_in_one_stage(machine));
      if (method == BoardMethod::domains) return of(broadcast_in_two_stages(machine));
      return std::nullopt;
    case Operation::reduce:
      if (method == BoardMethod::tree) return of(reduce_by_tree(machine, radix));
      if (method == BoardMethod::domain_tiles) return of(reduce_by_tiles(machine));
      return std::nullopt;
    case Operation::all_reduce:
      if (method == BoardMethod::tree)
        return reduce_by_tree(machine, radix).of(lines) + broadcast_time(machine, lines);
      if (method == BoardMethod::domain_tiles) return all_reduce_by_tiles_time(machine, lines);
      if (method == BoardMethod::dissemination) return of(all_reduce_by_rounds(machine));
      return std::nullopt;
    case Operation::all_gather:
      if (method == BoardMethod::mapped) return of(blocks_as_they_are(machine));
      if (method == BoardMethod::domain_blocks) return of(blocks_by_domains(machine));
      return std::nullopt;
    case Operation::reduce_scatter:
      if (method == BoardMethod::tiles) return of(blocks_as_they_are(machine));
      if (method == BoardMethod::domain_tiles) return of(blocks_by_domains(machine));
      return std::nullopt;
    default: return std::nullopt;
  }
}

std::optional<std::uint64_t> time_of_short_call(BoardMethod method, const Shape& shape,
                                                const MemoryMachine& machine, std::uint32_t radix) noexcept {
  switch (shape.operation) {
    case Operation::broadcast:
    case Operation::reduce:
    case Operation::all_reduce:
      if (method == BoardMethod::flat) return time_by(flat_ways(machine), shape);
      if (method == BoardMethod::tree) return time_by(tree_ways(machine, radix), shape);
      return std::nullopt;
    case Operation::all_gather:
      if (method == BoardMethod::flat) return time_by(flat_ways(machine), shape);
      if (method == BoardMethod::domain_lines) {
        Ways ways = tree_ways(machine, kRadixOfEnds);
        ways.all = {.fixed = packed_time(shape, machine), .each = 0};
        return time_by(ways, shape);
      }
      return std::nullopt;
    default: return std::nullopt;
  }
}

std::uint64_t least_lines_of_tiles(const MemoryMachine& machine) noexcept {
  const std::uint64_t lines = tiles_from(machine);
  return lines == kTilesNever ? kUsualLeastOfTiles : lines;
}

}  // namespace aqueduct::coll
