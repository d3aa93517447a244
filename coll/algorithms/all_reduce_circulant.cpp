#include "coll/algorithms/algorithms.hpp"
#include "coll/algorithms/circulant.hpp"
#include "coll/algorithms/steps.hpp"

namespace aqueduct::coll {

// The vector is cut into a part for each member. Every member keeps the parts in scratch, its own first, then those of
// the members behind it in order. A reduce-scatter along falling distances of a circulant graph leaves every member with
// the sum of its own part; an all-gather along the same distances, rising, brings it the others. So no part travels more
// often than with a power of two, whatever the number of members. Long vectors; the operator must be commutative.
//
// Cost:   2 ceil(log2 P) rounds, 2 (P - 1) / P · bytes sent by each member.
// Source: circulant.hpp.

namespace {

struct CirculantReduction {
  Circulant graph;
  Parts parts;

  explicit CirculantReduction(const Shape& shape) noexcept : graph(shape.ranks), parts(shape) {}

  /// The bytes of `count` parts in the order of a member, after the first `skipped` ones.
  std::uint64_t bytes_of(Rank position, std::uint64_t skipped, std::uint64_t count) const noexcept {
    return parts.around((position + skipped) % graph.ranks, count);
  }
  /// Where a part of a member's order begins in its scratch.
  Place kept(Rank position, std::uint64_t index) const noexcept {
    return at(Space::scratch, parts.around(position, index));
  }
  /// Where partial sums arrive in round k: rounds run from the last distance to the first.
  Place slot(std::uint32_t k) const noexcept {
    return at(Space::scratch, parts.bytes + (graph.ranks - graph.skip(k + 1)) * parts.longest());
  }
  std::uint64_t scratch() const noexcept { return parts.bytes + (graph.ranks - 1) * parts.longest(); }
};

// A counter for each round, of the reduce-scatter and then of the all-gather.
Needs all_reduce_circulant_needs(const Shape& shape) noexcept {
  if (shape.bytes == 0 || shape.ranks == 1) return {};
  const CirculantReduction plan(shape);
  return {.scratch = plan.scratch(), .counters = 2 * plan.graph.rounds};
}

// Two copies into scratch, member 0 one; a put and a reduction for each round; a put for each round; the copies back.
std::uint32_t all_reduce_circulant_length(const Shape& shape, Rank position, std::uint32_t) noexcept {
  if (shape.bytes == 0) return 0;
  if (shape.ranks == 1) return 1;
  const std::uint32_t copies = position == 0 ? 1 : 2;
  return 2 * copies + 3 * rounds_of(shape.ranks, 2);
}

/// The copies between a buffer in the order of parts and the member's order in scratch.
Step turned(const CirculantReduction& plan, Rank position, std::uint32_t which, Space user) noexcept {
  const std::uint64_t from = which == 0 ? position : 0;
  const std::uint64_t count = which == 0 ? plan.graph.ranks - position : position;
  const Place there = at(user, plan.parts.begin(from));
  const Place here = plan.kept(position, which == 0 ? 0 : plan.graph.ranks - position);
  return copy_of(user == Space::in ? there : here, user == Space::in ? here : there,
                 plan.parts.size(from, count));
}

Step all_reduce_circulant_step(const Shape& shape, Rank position, std::uint32_t,
                               std::uint32_t index) noexcept {
  if (shape.ranks == 1) return copy_of(at(Space::in, 0), at(Space::out, 0), shape.bytes);
  const CirculantReduction plan(shape);
  const std::uint32_t rounds = plan.graph.rounds;
  const std::uint32_t copies = position == 0 ? 1 : 2;
  if (index < copies) return turned(plan, position, index, Space::in);
  index -= copies;
  if (index < 2 * rounds) {
    const std::uint32_t k = rounds - 1 - index / 2;
    const std::uint64_t kept = plan.graph.skip(k);
    const std::uint64_t sent = plan.graph.skip(k + 1) - kept;
    if (index % 2 == 0) {
      return put_to(plan.graph.behind(position, k), plan.kept(position, kept), plan.slot(k),
                    plan.bytes_of(position, kept, sent), static_cast<Counter>(k));
    }
    const Place sum = plan.kept(position, 0);
    return after(reduction(sum, plan.slot(k), sum, plan.bytes_of(position, 0, sent)), static_cast<Counter>(k),
                 1);
  }
  index -= 2 * rounds;
  if (index < rounds) {
    const std::uint32_t k = index;
    const std::uint64_t had = plan.graph.skip(k);
    const std::uint64_t sent = plan.graph.skip(k + 1) - had;
    const Rank peer = plan.graph.before(position, k);
    const Step put = put_to(peer, plan.kept(position, 0), plan.kept(peer, had),
                            plan.bytes_of(position, 0, sent), static_cast<Counter>(rounds + k));
    return k == 0 ? put : after(put, static_cast<Counter>(rounds + k - 1), 1);
  }
  index -= rounds;
  // The parts of the last round are at the end of the member's order: all may wait for them.
  const Step copy = turned(plan, position, copies - 1 - index, Space::out);
  return index == 0 ? after(copy, static_cast<Counter>(2 * rounds - 1), 1) : copy;
}

Cost all_reduce_circulant_cost(const Shape& shape) noexcept {
  if (shape.bytes == 0 || shape.ranks == 1) return {};
  const std::uint32_t rounds = rounds_of(shape.ranks, 2);
  return {.messages = 2 * std::uint64_t{rounds} * shape.ranks,
          .bytes = 2 * std::uint64_t{shape.ranks - 1} * shape.bytes,
          .depth = 2 * rounds};
}

}  // namespace

const Algorithm kAllReduceCirculant{
    .name = "circulant",
    .operation = Operation::all_reduce,
    .parameters = {},
    .cuts = true,
    .refusal = [](const Shape& shape) noexcept -> const char* {
      if (!shape.commutative) return "it needs a commutative operator";
      return shape.order == Order::exact ? "it does not combine one vector after the other" : nullptr;
    },
    .needs = all_reduce_circulant_needs,
    .lanes = one_lane,
    .length = all_reduce_circulant_length,
    .step = all_reduce_circulant_step,
    .cost = all_reduce_circulant_cost,
};

}  // namespace aqueduct::coll
