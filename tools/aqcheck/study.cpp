#include "tools/aqcheck/study.hpp"

#include "tools/aqcheck/study_hosts.hpp"
#include "tools/aqcheck/study_team_tree.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace aqueduct::aqcheck {

using coll::Operation;
using coll::Shape;
using coll::Sync;

namespace {

// P members, radix k, blocks of m bytes, s segments; lg is ceil(log2 P).

std::uint64_t power(std::uint64_t base, std::uint32_t exponent) noexcept {
  std::uint64_t out = 1;
  while (exponent-- > 0) out *= base;
  return out;
}
/// ceil(log_k P)
std::uint32_t log_up(std::uint64_t members, std::uint64_t radix) noexcept {
  std::uint32_t rounds = 0;
  while (power(radix, rounds) < members) ++rounds;
  return rounds;
}
/// floor(log_k P)
std::uint32_t log_down(std::uint64_t members, std::uint64_t radix) noexcept {
  std::uint32_t rounds = 0;
  while (power(radix, rounds + 1) <= members) ++rounds;
  return rounds;
}
std::uint32_t lg(const Shape& shape) noexcept { return log_up(shape.ranks, 2); }
bool is_power(const Shape& shape, std::uint64_t radix) noexcept {
  return power(radix, log_up(shape.ranks, radix)) == shape.ranks;
}
/// A position's depth in the k-nomial tree: its digits that are not 0.
std::uint32_t digits(std::uint64_t position, std::uint64_t radix) noexcept {
  std::uint32_t count = 0;
  for (; position > 0; position /= radix) count += position % radix != 0 ? 1 : 0;
  return count;
}
std::uint32_t deepest(const Shape& shape, std::uint64_t radix) noexcept {
  std::uint32_t most = 0;
  for (Rank i = 0; i < shape.ranks; ++i) most = std::max(most, digits(i, radix));
  return most;
}
/// The farthest member of a mesh whose rows and planes are given: its three coordinates, added up.
std::uint32_t deepest_of_mesh(const Shape& shape) noexcept {
  const std::uint64_t row = shape.parameters[0];
  const std::uint64_t rows = shape.parameters[1];
  std::uint64_t most = 0;
  for (Rank i = 0; i < shape.ranks; ++i) most = std::max(most, i % row + i / row % rows + i / row / rows);
  return static_cast<std::uint32_t>(most);
}
/// The edges between the root and all others, added up.
std::uint64_t all_edges(const Shape& shape, std::uint64_t radix) noexcept {
  std::uint64_t sum = 0;
  for (Rank i = 0; i < shape.ranks; ++i) sum += digits(i, radix);
  return sum;
}
std::uint64_t others(const Shape& shape) noexcept { return shape.ranks - 1; }
std::uint64_t pairs(const Shape& shape) noexcept { return shape.ranks * others(shape); }
/// The segments of a block: as long as each other but for the last, none empty, at most `wanted`.
std::uint64_t segments(const Shape& shape, std::uint64_t wanted) noexcept {
  const std::uint64_t elements = shape.bytes / shape.element;
  const std::uint64_t most = std::min(wanted, elements);
  const std::uint64_t each = (elements + most - 1) / most;
  return (elements + each - 1) / each;
}
/// Direct access with Sync::mine: a signal for each edge says that the peer has called, before the data. Without addresses
/// it also says where the data are to go, in 16 bytes, whatever the mode.
Studied with_readiness(const Shape& shape, Studied out) {
  const bool announced = shape.addresses == coll::Addresses::local;
  if (shape.in != Sync::mine && !announced) return out;
  if (announced) out.bytes += 16 * out.messages;
  out.messages *= 2;
  out.depth += 1;
  out.less_depth |= announced;  // an announcement may travel beside the pass
  return out;
}
bool in_team_order(const Shape& shape) noexcept {
  return !shape.commutative || shape.order == coll::Order::exact;
}

Studied barrier_dissemination(const Shape& shape) {
  const std::uint64_t k = shape.parameters[0];
  return {.messages = shape.ranks * (k - 1) * log_up(shape.ranks, k),
          .depth = log_up(shape.ranks, k),
          .fewer_messages = !is_power(shape, k)};
}
Studied barrier_tree(const Shape& shape) {
  return {.messages = 2 * others(shape), .depth = 2 * deepest(shape, shape.parameters[0])};
}

Studied broadcast(const Shape& shape, std::uint64_t wanted, std::uint32_t depth, bool less) {
  return {.messages = others(shape) * segments(shape, wanted),
          .bytes = others(shape) * shape.bytes,
          .depth = depth,
          .less_depth = less};
}
Studied broadcast_flat(const Shape& shape) { return broadcast(shape, shape.parameters[0], 1, false); }
Studied broadcast_chain(const Shape& shape) {
  return broadcast(shape, shape.parameters[0], shape.ranks - 1, false);
}
Studied broadcast_k_ary(const Shape& shape) {
  return broadcast(shape, shape.parameters[1], log_up(shape.ranks, shape.parameters[0]), true);
}
Studied broadcast_k_nomial(const Shape& shape) {
  return broadcast(shape, shape.parameters[1], deepest(shape, shape.parameters[0]), false);
}
Studied broadcast_direct(const Shape& shape) {
  return with_readiness(shape, broadcast(shape, 1, deepest(shape, shape.parameters[0]), false));
}
Studied broadcast_circulant(const Shape& shape) {
  const std::uint64_t s = segments(shape, shape.parameters[0]);
  return broadcast(shape, s, static_cast<std::uint32_t>(s - 1) + lg(shape), true);
}
Studied broadcast_scatter(const Shape& shape) {
  return {.messages = 2 * others(shape) + lg(shape) * (others(shape) - 1),
          .bytes = others(shape) * shape.bytes,
          .depth = 1 + lg(shape),
          .less_depth = true};
}
/// Whether who has been read from is told: not where buffers stay until all have left, or where a pass follows.
bool is_answered(const Shape& shape) {
  const bool local = shape.addresses == coll::Addresses::local;
  return shape.out == Sync::mine || (local && shape.out == Sync::none);
}
/// A signal and a get for each edge and segment, and a signal in answer.
Studied broadcast_get(const Shape& shape) {
  const std::uint32_t depth =
      shape.parameters[0] == 1 ? shape.ranks - 1 : deepest(shape, shape.parameters[0]);
  const std::uint32_t answer = is_answered(shape) ? 1 : 0;
  return {.messages = others(shape) * (2 * segments(shape, shape.parameters[1]) + answer),
          .bytes = others(shape) * shape.bytes,
          .depth = 2 * depth + answer};
}
Studied broadcast_fork(const Shape& shape) {
  return broadcast(shape, shape.parameters[2], deepest_of_mesh(shape), false);
}
Studied broadcast_double_tree(const Shape& shape) {
  return broadcast(shape, shape.parameters[0], lg(shape), false);
}

Studied blocks_on_tree(const Shape& shape) {
  const std::uint64_t k = shape.parameters[0];
  return {.messages = others(shape), .bytes = all_edges(shape, k) * shape.bytes, .depth = deepest(shape, k)};
}
Studied scatter_k_nomial(const Shape& shape) {
  Studied out = blocks_on_tree(shape);
  // Of the ranges below the root, one may begin before member 0 and end behind it.
  const std::uint64_t wrap = shape.ranks - shape.root;
  if (shape.root != 0 && digits(wrap, shape.parameters[0]) > 1) ++out.messages;
  return out;
}
/// Of a k-ary tree: the sum of the distances of all its positions from the root, in edges, and the longest of them.
struct BelowRoot {
  std::uint64_t edges = 0;
  std::uint32_t depth = 0;
};
BelowRoot below_k_ary(std::uint64_t positions, std::uint64_t k) {
  BelowRoot out;
  const std::uint64_t width = (positions + k - 1) / k;
  // Those without the root are cut where their number is a multiple of the width.
  for (std::uint64_t begin = 1; begin < positions;) {
    const std::uint64_t end = std::min(positions, (begin / width + 1) * width);
    const BelowRoot child = below_k_ary(end - begin, k);
    out.edges += child.edges + (end - begin);
    out.depth = std::max(out.depth, child.depth + 1);
    begin = end;
  }
  return out;
}
Studied blocks_on_k_ary(const Shape& shape) {
  const BelowRoot below = below_k_ary(shape.ranks, shape.parameters[0]);
  return {.messages = others(shape), .bytes = below.edges * shape.bytes, .depth = below.depth};
}
Studied scatter_k_ary(const Shape& shape) {
  Studied out = blocks_on_k_ary(shape);
  const std::uint64_t wrap = shape.ranks - shape.root;
  const std::uint64_t width = (shape.ranks + shape.parameters[0] - 1) / shape.parameters[0];
  if (shape.root != 0 && wrap != 1 && wrap % width != 0) ++out.messages;
  return out;
}
Studied blocks_direct(const Shape& shape) {
  return with_readiness(shape, {.messages = others(shape), .bytes = others(shape) * shape.bytes, .depth = 1});
}

/// An invitation for each block; and the last block of a window before the invitations of the next.
Studied gather_windowed(const Shape& shape) {
  return {.messages = 2 * others(shape),
          .bytes = others(shape) * shape.bytes,
          .depth = static_cast<std::uint32_t>(2 * ((others(shape) - 1) / shape.parameters[0] + 1))};
}

/// The root with each other member.
Studied to_each_other(const Shape& shape) {
  return {.messages = others(shape), .bytes = others(shape) * shape.bytes, .depth = 1};
}
Studied to_everybody(const Shape& shape) {
  return {.messages = pairs(shape), .bytes = pairs(shape) * shape.bytes, .depth = 1};
}
/// A get for each edge, a signal before it unless the reader knows that the bytes are there, and one behind it unless their
/// owner needs none. Whoever does not know where buffers are needs both.
Studied read_by(std::uint64_t edges, const Shape& shape, bool first) {
  const bool local = shape.addresses == coll::Addresses::local;
  const std::uint32_t each = 1u + (local || first ? 1 : 0) + (is_answered(shape) ? 1 : 0);
  return {.messages = each * edges, .bytes = edges * shape.bytes, .depth = each};
}
Studied scatter_get(const Shape& shape) { return read_by(others(shape), shape, shape.in != Sync::none); }
Studied gather_get(const Shape& shape) { return read_by(others(shape), shape, shape.in == Sync::mine); }
Studied all_gather_get(const Shape& shape) { return read_by(pairs(shape), shape, true); }
Studied all_to_all_get(const Shape& shape) { return read_by(pairs(shape), shape, shape.in == Sync::mine); }
Studied to_everybody_direct(const Shape& shape) { return with_readiness(shape, to_everybody(shape)); }
Studied in_rounds(const Shape& shape, std::uint32_t rounds) {
  return {
      .messages = std::uint64_t{shape.ranks} * rounds, .bytes = pairs(shape) * shape.bytes, .depth = rounds};
}
Studied logarithmic(const Shape& shape) { return in_rounds(shape, lg(shape)); }
Studied one_by_one(const Shape& shape) { return in_rounds(shape, shape.ranks - 1); }
Studied by_windows(const Shape& shape) {
  Studied out = one_by_one(shape);
  out.depth = static_cast<std::uint32_t>((others(shape) - 1) / shape.parameters[0] + 1);
  return out;
}
Studied exchange_windowed(const Shape& shape) { return with_readiness(shape, by_windows(shape)); }
Studied by_neighbours(const Shape& shape) { return in_rounds(shape, shape.ranks / 2); }
Studied all_gather_bruck(const Shape& shape) {
  const std::uint64_t k = shape.parameters[0];
  Studied out = in_rounds(shape, log_up(shape.ranks, k));
  out.messages *= k - 1;
  out.fewer_messages = !is_power(shape, k);
  return out;
}
Studied all_to_all_bruck(const Shape& shape) {
  const std::uint64_t k = shape.parameters[0];
  Studied out = in_rounds(shape, log_up(shape.ranks, k));
  // A block travels once for each digit of its distance that is not 0.
  out.bytes = all_edges(shape, k) * shape.ranks * shape.bytes;
  out.messages *= k - 1;
  if (!is_power(shape, k)) {
    out.messages *= 2;
    out.fewer_messages = true;
    out.less_depth = true;
  }
  return out;
}

Studied permuted(const Shape& shape) {
  return {.messages = shape.ranks, .bytes = shape.ranks * shape.bytes, .depth = 1};
}

Studied vectors(const Shape& shape, std::uint64_t edges, std::uint64_t wanted, std::uint32_t depth) {
  return {.messages = edges * segments(shape, wanted), .bytes = edges * shape.bytes, .depth = depth};
}
Studied reduce_up(const Shape& shape, std::uint32_t depth) {
  const bool forwards = in_team_order(shape) && shape.root != 0;
  return vectors(shape, others(shape) + (forwards ? 1 : 0), 1, depth + (forwards ? 1 : 0));
}
Studied reduce_k_nomial(const Shape& shape) { return reduce_up(shape, deepest(shape, shape.parameters[0])); }
Studied reduce_k_ary(const Shape& shape) {
  const std::uint64_t k = shape.parameters[0];
  Studied out = reduce_up(shape, k == 1 ? shape.ranks - 1 : log_up(shape.ranks, k));
  out.less_depth = true;
  return out;
}
Studied reduce_fork(const Shape& shape) { return reduce_up(shape, deepest_of_mesh(shape)); }
Studied reduce_chain(const Shape& shape) {
  const bool forwards = in_team_order(shape) && shape.root + 1 != shape.ranks;
  const Rank edges = shape.ranks - (forwards ? 0 : 1);
  return vectors(shape, edges, shape.parameters[0], edges);
}
/// Halving, then up a binomial tree: in each of its rounds half of the vector travels in all, if P divides it.
Studied reduce_halving(const Shape& shape) {
  const std::uint64_t elements = shape.bytes / shape.element;
  Studied out{.messages = std::uint64_t{shape.ranks} * lg(shape) + others(shape),
              .bytes = others(shape) * shape.bytes,
              .depth = 2 * lg(shape)};
  // Part p has an element more than the others if p < elements mod P. It belongs to the number whose bits are p's in reverse.
  const Rank root = in_team_order(shape) ? shape.root : 0;
  for (std::uint64_t part = 0; part < shape.ranks; ++part) {
    std::uint64_t owner = 0;
    for (std::uint32_t bit = 0; bit < lg(shape); ++bit) owner |= (part >> bit & 1) << (lg(shape) - 1 - bit);
    const std::uint64_t size =
        (elements / shape.ranks + (part < elements % shape.ranks ? 1 : 0)) * shape.element;
    out.bytes += digits(owner ^ root, 2) * size;
  }
  return out;
}
Studied reduce_flat(const Shape& shape) { return vectors(shape, others(shape), 1, 1); }

Studied all_reduce_multiplying(const Shape& shape) {
  const std::uint64_t k = shape.parameters[0];
  const std::uint32_t rounds = log_down(shape.ranks, k);
  const std::uint64_t leaders = power(k, rounds);
  const std::uint64_t extra = shape.ranks - leaders;
  Studied out = vectors(shape, 2 * extra + leaders * (k - 1) * rounds, 1, rounds + (extra > 0 ? 2 : 0));
  out.less_depth = extra == 1;
  return out;
}
Studied all_reduce_tree(const Shape& shape) {
  return vectors(shape, 2 * others(shape), 1, 2 * deepest(shape, shape.parameters[0]));
}
/// A reduce-scatter and an all-gather of parts of the vector.
Studied parts_twice(const Shape& shape, std::uint64_t messages, std::uint32_t depth) {
  return {.messages = messages, .bytes = 2 * others(shape) * shape.bytes, .depth = depth};
}
Studied parts_in_logarithmic(const Shape& shape) {
  return parts_twice(shape, std::uint64_t{2} * lg(shape) * shape.ranks, 2 * lg(shape));
}
Studied all_reduce_parts(const Shape& shape) {
  // A share says that its sender has called.
  Shape ready = shape;
  ready.in = Sync::none;
  const Studied gathered = with_readiness(ready, {.messages = pairs(shape)});
  return {.messages = gathered.messages + pairs(shape),
          .bytes = gathered.bytes + 2 * others(shape) * shape.bytes,
          .depth = 2,
          .less_depth = gathered.less_depth};
}
Studied all_reduce_ring(const Shape& shape) {
  const std::uint64_t shortest = shape.bytes / shape.element / shape.ranks;
  const std::uint64_t s =
      std::clamp<std::uint64_t>(shape.parameters[0], 1, std::max<std::uint64_t>(shortest, 1));
  return parts_twice(shape, 2 * pairs(shape) * s, 2 * (shape.ranks - 1));
}

Studied all_reduce_double_tree(const Shape& shape) {
  Studied out = vectors(shape, 2 * others(shape), shape.parameters[0], 2 * lg(shape));
  const std::uint64_t in_first = (segments(shape, shape.parameters[0]) + 1) / 2;
  out.depth *= static_cast<std::uint32_t>((in_first + lg(shape) - 1) / lg(shape));
  out.less_depth = true;
  return out;
}

Studied scan_doubling(const Shape& shape) {
  const std::uint64_t messages = std::uint64_t{shape.ranks} * lg(shape) - (power(2, lg(shape)) - 1);
  return vectors(shape, messages, 1, log_down(shape.ranks, 2));
}
Studied scan_chain(const Shape& shape) {
  return vectors(shape, others(shape), shape.parameters[0], shape.ranks - 1);
}

constexpr const char* kSame = "";
constexpr const char* kShallow =
    "the study has ceil(log_k P) for the depth; a position below P may have no digit 0 only if P is large "
    "enough";
constexpr const char* kHosts =
    "hosts of one member have nobody to hear from, and few digits are used in the last round";
constexpr const char* kReadiness =
    "with Sync::mine, or without addresses, a message for each edge says first that the peer has called, and "
    "where";

constexpr std::array kStudy{
    StudyEntry{Operation::barrier, "dissemination", barrier_dissemination,
               "no signals over distances of P or more, which would reach a member twice"},
    StudyEntry{Operation::barrier, "tree", barrier_tree, kShallow},
    StudyEntry{Operation::broadcast, "flat", broadcast_flat, kSame},
    StudyEntry{Operation::broadcast, "chain", broadcast_chain, kSame},
    StudyEntry{Operation::broadcast, "k-ary", broadcast_k_ary,
               "the study has no depth for it: ranges are cut to a k-th, so it is at most ceil(log_k P)"},
    StudyEntry{Operation::broadcast, "k-nomial", broadcast_k_nomial, kShallow},
    StudyEntry{Operation::broadcast, "direct", broadcast_direct, kReadiness},
    StudyEntry{Operation::broadcast, "circulant", broadcast_circulant,
               "s - 1 + lg are rounds; a chain of messages may skip some"},
    StudyEntry{
        Operation::broadcast, "scatter-all-gather", broadcast_scatter,
        "the study scatters down a tree in lg rounds, and sends 2 (P - 1) blocks in all; this scatter is "
        "flat, and nothing is put to the root. Parts from the last to the first are two puts"},
    StudyEntry{Operation::broadcast, "double-tree", broadcast_double_tree,
               "2 lg is time: a member sends to two children in turn; a chain of messages is half as long"},
    StudyEntry{Operation::broadcast, "fork", broadcast_fork,
               "the study names the tree only; the requirement has the sum of the dimensions, less one each"},
    StudyEntry{Operation::broadcast, "get", broadcast_get, kSame},
    StudyEntry{Operation::scatter, "k-nomial", scatter_k_nomial,
               "a range of members beyond the last and from 0 on is in two pieces in the input: two puts"},
    StudyEntry{Operation::scatter, "k-ary", scatter_k_ary, kSame},
    StudyEntry{Operation::scatter, "direct", blocks_direct, kReadiness},
    StudyEntry{Operation::scatter, "windowed", to_each_other, kSame},
    StudyEntry{Operation::scatter, "get", scatter_get, kSame},
    StudyEntry{Operation::gather, "k-nomial", blocks_on_tree, kShallow},
    StudyEntry{Operation::gather, "k-ary", blocks_on_k_ary, kSame},
    StudyEntry{Operation::gather, "direct", blocks_direct, kReadiness},
    StudyEntry{Operation::gather, "windowed", gather_windowed, kSame},
    StudyEntry{Operation::gather, "get", gather_get, kSame},
    StudyEntry{Operation::all_gather, "direct", to_everybody_direct, kReadiness},
    StudyEntry{Operation::all_gather, "bruck", all_gather_bruck,
               "no puts over distances of P or more, which would bring blocks twice"},
    StudyEntry{Operation::all_gather, "ring", one_by_one, kSame},
    StudyEntry{Operation::all_gather, "circulant", logarithmic, kSame},
    StudyEntry{Operation::all_gather, "doubling", logarithmic, kSame},
    StudyEntry{Operation::all_gather, "neighbours", by_neighbours, kSame},
    StudyEntry{Operation::all_gather, "get", all_gather_get, kSame},
    StudyEntry{Operation::all_to_all, "direct", to_everybody_direct, kReadiness},
    StudyEntry{Operation::all_to_all, "bruck", all_to_all_bruck,
               "a shorter last run of blocks is a put of its own; few digits are used in the last round, and "
               "blocks that nobody passes on make no chain"},
    StudyEntry{Operation::all_to_all, "pairwise", by_windows, kSame},
    StudyEntry{Operation::all_to_all, "windowed", exchange_windowed, kReadiness},
    StudyEntry{Operation::all_to_all, "get", all_to_all_get, kSame},
    StudyEntry{Operation::reduce, "k-nomial", reduce_k_nomial,
               "in team order the tree begins at member 0, which puts the result to the root"},
    StudyEntry{Operation::reduce, "k-ary", reduce_k_ary,
               "the study has no depth for it: ranges are cut to a k-th, so it is at most ceil(log_k P)"},
    StudyEntry{Operation::reduce, "fork", reduce_fork,
               "in team order the tree begins at member 0, which puts the result to the root"},
    StudyEntry{Operation::reduce, "chain", reduce_chain,
               "in team order the chain ends at the last member, which puts the result to the root"},
    StudyEntry{Operation::reduce, "flat", reduce_flat, kSame},
    StudyEntry{Operation::reduce, "halving", reduce_halving, kSame},
    StudyEntry{Operation::all_reduce, "multiplying", all_reduce_multiplying,
               "one member beyond a power of k gets the result a round earlier than two would"},
    StudyEntry{Operation::all_reduce, "tree", all_reduce_tree, kShallow},
    StudyEntry{Operation::all_reduce, "circulant", parts_in_logarithmic, kSame},
    StudyEntry{Operation::all_reduce, "direct", to_everybody, kSame},
    StudyEntry{Operation::all_reduce, "parts", all_reduce_parts,
               "without addresses a message for each edge says first where the output is"},
    StudyEntry{Operation::all_reduce, "halving", parts_in_logarithmic, kSame},
    StudyEntry{Operation::all_reduce, "ring", all_reduce_ring, kSame},
    StudyEntry{Operation::all_reduce, "double-tree", all_reduce_double_tree,
               "as of the broadcast; and a member takes segments up and down in turns, lg of them ahead, so "
               "that one waits for "
               "another"},
    StudyEntry{Operation::reduce_scatter, "circulant", logarithmic, kSame},
    StudyEntry{Operation::reduce_scatter, "direct", to_everybody, kSame},
    StudyEntry{Operation::reduce_scatter, "halving", logarithmic, kSame},
    StudyEntry{Operation::reduce_scatter, "pairwise", by_windows, kSame},
    StudyEntry{Operation::scan, "doubling", scan_doubling,
               "lg are rounds; a chain of d messages ends at member 2^d - 1 or behind it"},
    StudyEntry{Operation::scan, "chain", scan_chain, kSame},
    StudyEntry{Operation::exscan, "doubling", scan_doubling,
               "lg are rounds; a chain of d messages ends at member 2^d - 1 or behind it"},
    StudyEntry{Operation::exscan, "chain", scan_chain, kSame},
    StudyEntry{Operation::permute, "slots", permuted, kSame},
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
    StudyEntry{Operation::broadcast, "team-tree", broadcast_on_team_tree, kSame},
    StudyEntry{
        Operation::scatter, "team-tree", scatter_on_team_tree,
        "of a tree whose subtrees are ranges of the team, one may begin before member 0 and end behind it: "
        "two puts"},
    StudyEntry{Operation::gather, "team-tree", blocks_on_team_tree, kSame},
    StudyEntry{Operation::reduce, "team-tree", reduce_on_team_tree, kSame},
    StudyEntry{Operation::scatter_v, "slots", to_each_other, kSame},
    StudyEntry{Operation::gather_v, "slots", to_each_other, kSame},
    StudyEntry{Operation::all_gather_v, "slots", to_everybody, kSame},
    StudyEntry{Operation::all_gather_v, "circulant", logarithmic, kSame},
    StudyEntry{Operation::all_gather_v, "ring", one_by_one, kSame},
    StudyEntry{Operation::all_to_all_v, "slots", to_everybody, kSame},
    StudyEntry{Operation::all_to_all_v, "pairwise", by_windows, kSame},
};

/// The signals of Sync::all: the barrier's dissemination, or, where nothing begins before the root or ends after it, half
/// of the barrier's 4-nomial tree; where members share processors, up an 8-nomial tree and down it.
void add_pass(Studied& to, const Shape& shape, bool on_tree) {
  if (shape.groups.of != nullptr) return add_pass_by_hosts(to, shape, on_tree);
  if (!on_tree && shape.few_signals && shape.ranks > 2) {
    to.messages += 2 * others(shape);
    to.depth += 2 * deepest(shape, 8);
    to.less_depth = true;  // the root goes on before the others
    return;
  }
  to.messages += on_tree ? others(shape) : std::uint64_t{shape.ranks} * lg(shape);
  to.depth += on_tree ? deepest(shape, 4) : lg(shape);
}

/// The puts of a circulant all-gather of blocks that differ: in the round that brings a member from `had` to `has` blocks it
/// sends its first has - had ones, if there is anything in them.
std::uint64_t circulant_puts(const Case& checked) {
  const Rank ranks = checked.shape.ranks;
  const auto length = [&](Rank member) {
    return checked.blocks->sent(member, (member + 1) % ranks, checked.shape.bytes).bytes;
  };
  std::uint64_t puts = 0;
  for (Rank has = ranks; has > 1; has = (has + 1) / 2) {
    for (Rank member = 0; member < ranks; ++member) {
      std::uint64_t bytes = 0;
      for (Rank i = 0; i < has - (has + 1) / 2; ++i) bytes += length((member + i) % ranks);
      puts += bytes != 0 ? 1 : 0;
    }
  }
  return puts;
}

/// The cost of blocks that differ: a message for each that is not empty, and the passes. Each block goes to each of its
/// receivers once, also if others pass it on.
coll::Cost cost_of_blocks(const Case& checked) {
  Shape passes = checked.shape;
  passes.bytes = 0;
  coll::Cost cost = coll::Schedule::cost(*checked.algorithm, passes);
  const coll::Cost with_blocks = coll::Schedule::cost(*checked.algorithm, checked.shape);
  const bool circulant = checked.algorithm->name == "circulant";
  std::uint64_t puts = 0;
  for (Rank from = 0; from < passes.ranks; ++from) {
    for (Rank to = 0; to < passes.ranks; ++to) {
      const std::uint64_t bytes = from == to ? 0 : checked.blocks->sent(from, to, checked.shape.bytes).bytes;
      puts += bytes != 0 ? 1 : 0;
      cost.bytes += bytes;
    }
  }
  cost.messages += circulant && puts != 0 ? circulant_puts(checked) : puts;
  if (puts != 0) cost.depth = with_blocks.depth;
  cost.depth_is_limit = true;
  return cost;
}

}  // namespace

const StudyEntry* find_in_study(const coll::Algorithm& algorithm) noexcept {
  const auto found = std::find_if(kStudy.begin(), kStudy.end(), [&](const StudyEntry& entry) {
    return entry.operation == algorithm.operation && entry.algorithm == algorithm.name;
  });
  return found == kStudy.end() ? nullptr : &*found;
}

Studied studied(const StudyEntry& entry, const Shape& shape) {
  if (shape.ranks == 1) return {};
  const bool barrier = shape.operation == Operation::barrier;
  Studied out;
  if (barrier || shape.bytes > 0) out = entry.formula(shape);
  if (barrier) return out;
  const bool from_root = shape.operation == Operation::broadcast || shape.operation == Operation::scatter;
  const bool to_root = shape.operation == Operation::reduce || shape.operation == Operation::gather;
  if (shape.in == Sync::all) add_pass(out, shape, from_root);
  if (shape.out == Sync::all) add_pass(out, shape, to_root);
  return out;
}

std::string wrong_costs(const Case& checked, const Counted& counted) {
  const auto agrees = [](std::uint64_t found, std::uint64_t expected, bool limit) {
    return limit ? found <= expected : found == expected;
  };
  const coll::Cost cost = checked.blocks != nullptr ? cost_of_blocks(checked)
                                                    : coll::Schedule::cost(*checked.algorithm, checked.shape);
  if (counted.messages != cost.messages || counted.bytes != cost.bytes ||
      !agrees(counted.depth, cost.depth, cost.depth_is_limit)) {
    return fmt::format("the formula says {} messages, {} bytes, depth {}; counted are {}, {}, {}",
                       cost.messages, cost.bytes, cost.depth, counted.messages, counted.bytes, counted.depth);
  }
  const StudyEntry* const entry = find_in_study(*checked.algorithm);
  if (entry == nullptr || checked.blocks != nullptr) return {};
  const Studied said = studied(*entry, checked.shape);
  if (agrees(counted.messages, said.messages, said.fewer_messages) && counted.bytes == said.bytes &&
      agrees(counted.depth, said.depth, said.less_depth))
    return {};
  const auto most = [](bool limit) { return limit ? "at most " : ""; };
  return fmt::format("the study says {}{} messages, {} bytes, depth {}{}; counted are {}, {}, {}",
                     most(said.fewer_messages), said.messages, said.bytes, most(said.less_depth), said.depth,
                     counted.messages, counted.bytes, counted.depth);
}

}  // namespace aqueduct::aqcheck
