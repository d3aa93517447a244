#include "tools/aqcheck/study_formulas.hpp"
#include "tools/aqcheck/study_rows.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

namespace aqueduct::aqcheck {

using coll::Operation;
using coll::Shape;
using coll::Sync;

namespace {

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

constexpr std::array kBlocks{
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
    StudyEntry{Operation::all_gather, "behind-barrier", to_everybody_direct, kReadiness},
    StudyEntry{Operation::all_to_all, "direct", to_everybody_direct, kReadiness},
    StudyEntry{Operation::all_to_all, "bruck", all_to_all_bruck,
               "a shorter last run of blocks is a put of its own; few digits are used in the last round, and "
               "blocks that nobody passes on make no chain"},
    StudyEntry{Operation::all_to_all, "pairwise", by_windows, kSame},
    StudyEntry{Operation::all_to_all, "windowed", exchange_windowed, kReadiness},
    StudyEntry{Operation::all_to_all, "get", all_to_all_get, kSame},
    StudyEntry{Operation::all_to_all, "behind-barrier", to_everybody_direct, kReadiness},
    StudyEntry{Operation::permute, "slots", permuted, kSame},
    StudyEntry{Operation::scatter_v, "slots", to_each_other, kSame},
    StudyEntry{Operation::gather_v, "slots", to_each_other, kSame},
    StudyEntry{Operation::all_gather_v, "slots", to_everybody, kSame},
    StudyEntry{Operation::all_gather_v, "circulant", logarithmic, kSame},
    StudyEntry{Operation::all_gather_v, "ring", one_by_one, kSame},
    StudyEntry{Operation::all_to_all_v, "slots", to_everybody, kSame},
    StudyEntry{Operation::all_to_all_v, "pairwise", by_windows, kSame},
};

}  // namespace

std::span<const StudyEntry> rows_of_blocks() noexcept { return kBlocks; }

}  // namespace aqueduct::aqcheck
