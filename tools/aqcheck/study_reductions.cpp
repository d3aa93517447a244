#include "tools/aqcheck/study_formulas.hpp"
#include "tools/aqcheck/study_rows.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

namespace aqueduct::aqcheck {

using coll::Operation;
using coll::Shape;

namespace {

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

constexpr std::array kReductions{
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
};

}  // namespace

std::span<const StudyEntry> rows_of_reductions() noexcept { return kReductions; }

}  // namespace aqueduct::aqcheck
