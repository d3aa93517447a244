#include "tools/aqcheck/study_formulas.hpp"
#include "tools/aqcheck/study_rows.hpp"

#include <array>
#include <bit>
#include <cstdint>

namespace aqueduct::aqcheck {

using coll::Operation;
using coll::Shape;

namespace {

// What schedules send that go by hosts: P members on G hosts. On a host P - G messages go up to the leaders, and as many
// down. Depths are limits: a host of one member has nobody to hear from.

std::uint64_t hosts(const Shape& shape) { return shape.groups.of->count(); }
std::uint64_t beside_leaders(const Shape& shape) { return shape.ranks - hosts(shape); }

/// The rounds of k - 1 messages in which each of G hears of all.
std::uint32_t rounds_of_hosts(const Shape& shape, std::uint64_t radix) {
  std::uint32_t rounds = 0;
  for (std::uint64_t reached = 1; reached < hosts(shape); reached *= radix) ++rounds;
  return rounds;
}

Studied on_tree_of_hosts(const Shape& shape, std::uint64_t segments) {
  return {.messages = (shape.ranks - 1) * segments,
          .bytes = (shape.ranks - 1) * shape.bytes,
          .depth = 1 + rounds_of_hosts(shape, shape.parameters[0]),
          .less_depth = true};
}

/// Up on each host, rounds among the leaders, down on each host.
Studied through_leaders(const Shape& shape, std::uint64_t radix) {
  const std::uint32_t rounds = rounds_of_hosts(shape, radix);
  return {.messages = 2 * beside_leaders(shape) + hosts(shape) * (radix - 1) * rounds,
          .depth = 2 + rounds,
          .less_depth = true};
}

Studied barrier_by_hosts(const Shape& shape) {
  Studied out = through_leaders(shape, shape.parameters[0]);
  out.fewer_messages = true;  // where G is no power of k, as in a dissemination of G
  return out;
}

Studied broadcast_by_hosts(const Shape& shape) {
  return on_tree_of_hosts(shape, segments(shape, shape.parameters[1]));
}

Studied reduce_by_hosts(const Shape& shape) { return on_tree_of_hosts(shape, 1); }

Studied all_reduce_by_hosts(const Shape& shape) {
  Studied out = through_leaders(shape, shape.parameters[0]);
  out.bytes = out.messages * shape.bytes;
  return out;
}

Studied all_reduce_by_tree_of_hosts(const Shape& shape) {
  Studied out = on_tree_of_hosts(shape, 1);  // up, and down again
  out.messages *= 2;
  out.bytes *= 2;
  out.depth *= 2;
  return out;
}

Studied all_reduce_in_three_dimensions(const Shape& shape) {
  const coll::Groups& groups = *shape.groups.of;
  const auto whole = [&](std::uint64_t host) {
    return std::uint64_t{std::bit_floor(groups.size(static_cast<Rank>(host)))};
  };
  const auto rounds = [](std::uint64_t power) { return static_cast<std::uint32_t>(std::countr_zero(power)); };
  const std::uint64_t in_rounds = std::bit_floor(hosts(shape));
  Studied out;
  for (std::uint64_t host = 0; host < hosts(shape); ++host) {
    const std::uint64_t active = whole(host);
    out.messages += 2 * (groups.size(static_cast<Rank>(host)) - active);  // there and back
    if (host < in_rounds) {
      out.messages += active * rounds(active) + rounds(in_rounds) * (1 + (active - 1));
    } else {
      // Up to its leader, from there to another host, and down again; the other host's leader passes it on.
      out.messages += 2 * (active - 1) + 2 + (whole(host - in_rounds) - 1);
    }
  }
  out.bytes = out.messages * shape.bytes;
  // The last vector from another host is passed on; members and hosts beyond a power of two, there and back.
  out.depth = rounds(std::bit_floor(groups.most())) + rounds(in_rounds) + 1 + 2 + 2;
  out.less_depth = true;
  return out;
}

Studied all_gather_by_hosts(const Shape& shape) {
  const std::uint64_t below = beside_leaders(shape);
  const std::uint64_t between = hosts(shape) - 1;
  // A block up for each; each other host gets each block; all blocks down for each.
  const std::uint64_t blocks = below + between * shape.ranks + below * shape.ranks;
  return {.messages = 2 * below + hosts(shape) * between,
          .bytes = blocks * shape.bytes,
          .depth = 3,
          .less_depth = true};
}

/// Scatter and gather.
Studied blocks_by_hosts(const Shape& shape) {
  // A block moves once for each digit of its host's number, counted from the root's, that is not 0; and once on its host,
  // unless it is its leader's.
  const coll::Groups& groups = *shape.groups.of;
  const std::uint64_t radix = shape.parameters[0];
  const std::uint64_t of_root = groups.group_of(shape.root);
  std::uint64_t moves = beside_leaders(shape);
  for (std::uint64_t host = 0; host < hosts(shape); ++host) {
    std::uint64_t number = (host + hosts(shape) - of_root) % hosts(shape);
    for (; number > 0; number /= radix)
      moves += number % radix != 0 ? groups.size(static_cast<Rank>(host)) : 0;
  }
  Studied out = on_tree_of_hosts(shape, 1);
  out.bytes = moves * shape.bytes;
  return out;
}

Studied all_to_all_by_hosts(const Shape& shape) {
  const coll::Groups& groups = *shape.groups.of;
  Studied out;
  std::uint64_t blocks = 0;
  for (Rank host = 0; host < groups.count(); ++host) {
    const std::uint64_t members = groups.size(host);
    const std::uint64_t afar = shape.ranks - members;
    const bool first = groups.begin(host) == 0;
    const bool last = groups.begin(host) + members == shape.ranks;
    // Beside the leader each hands in a message for each other host, and gets one or two: from the hosts before and behind.
    out.messages += (members - 1) * (hosts(shape) - 1 + (first || last ? 1 : 2));
    out.messages += members * (members - 1);  // on the host, to each other
    out.messages += hosts(shape) - 1;
    blocks += 2 * (members - 1) * afar + members * (members - 1) + members * afar;
  }
  out.bytes = blocks * shape.bytes;
  out.depth = 3;
  out.less_depth = true;
  return out;
}

Studied reduce_scatter_by_hosts(const Shape& shape) {
  const std::uint64_t below = beside_leaders(shape);
  const std::uint64_t between = hosts(shape) - 1;
  // P blocks up for each; of each host all blocks of the others; a block down for each.
  const std::uint64_t blocks = below * shape.ranks + between * shape.ranks + below;
  return {.messages = 2 * below + hosts(shape) * between,
          .bytes = blocks * shape.bytes,
          .depth = 3,
          .less_depth = true};
}

/// Scan and exscan.
Studied scan_by_hosts(const Shape& shape) {
  Studied out;
  out.messages = 2 * beside_leaders(shape);
  const coll::Groups& groups = *shape.groups.of;
  const bool exclusive = shape.operation == Operation::exscan;
  if (exclusive && groups.size(groups.count() - 1) > 1)
    --out.messages;  // nothing comes after the last member
  for (std::uint64_t distance = 1; distance < hosts(shape); distance *= 2)
    out.messages += hosts(shape) - distance;
  out.bytes = out.messages * shape.bytes;
  out.depth = 2 + rounds_of_hosts(shape, 2);
  out.less_depth = true;
  return out;
}

constexpr const char* kHosts =
    "hosts of one member have nobody to hear from, and few digits are used in the last round";

constexpr std::array kByHosts{
    StudyEntry{Operation::barrier, "hosts", barrier_by_hosts, kHosts},
    StudyEntry{Operation::broadcast, "hosts", broadcast_by_hosts, kHosts},
    StudyEntry{Operation::all_gather, "hosts", all_gather_by_hosts, kHosts},
    StudyEntry{Operation::reduce, "hosts", reduce_by_hosts, kHosts},
    StudyEntry{Operation::all_reduce, "hosts", all_reduce_by_hosts, kHosts},
    StudyEntry{Operation::scatter, "hosts", blocks_by_hosts, kHosts},
    StudyEntry{Operation::gather, "hosts", blocks_by_hosts, kHosts},
    StudyEntry{Operation::all_to_all, "hosts", all_to_all_by_hosts, kHosts},
    StudyEntry{Operation::reduce_scatter, "hosts", reduce_scatter_by_hosts, kHosts},
    StudyEntry{Operation::scan, "hosts", scan_by_hosts, kHosts},
    StudyEntry{Operation::exscan, "hosts", scan_by_hosts, kHosts},
    StudyEntry{Operation::all_reduce, "hosts-tree", all_reduce_by_tree_of_hosts, kHosts},
    StudyEntry{
        Operation::all_reduce, "hosts-dissemination", all_reduce_in_three_dimensions,
        "the study takes powers of two; where all numbers are, nothing is given away and chains are shorter"},
};

}  // namespace

std::span<const StudyEntry> rows_of_hosts() noexcept { return kByHosts; }

void add_pass_by_hosts(Studied& to, const Shape& shape, bool on_tree) {
  to.messages += on_tree ? shape.ranks - 1 : through_leaders(shape, 2).messages;
  to.depth += on_tree ? 1 + rounds_of_hosts(shape, 4) : through_leaders(shape, 2).depth;
  to.less_depth = true;
}

}  // namespace aqueduct::aqcheck
