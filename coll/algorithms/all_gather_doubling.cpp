#include "coll/algorithms/algorithms.hpp"
#include "coll/algorithms/steps.hpp"

namespace aqueduct::coll {

// Recursive doubling, for a power of two: in round k a member and the one whose number differs in bit k put all the
// blocks that they have to each other. Blocks lie in scratch in their order, so nothing is turned at the end.
//
// Source: Thakur, Rabenseifner and Gropp, Int. J. High Performance Computing Applications 19(1), 2005.

namespace {

Needs all_gather_doubling_needs(const Shape& shape) noexcept {
  if (shape.bytes == 0 || shape.ranks == 1) return {};
  return {.scratch = shape.ranks * shape.bytes, .counters = rounds_of(shape.ranks, 2)};
}

// The own block into scratch; a put for each round; the copy to the output.
std::uint32_t all_gather_doubling_length(const Shape& shape, Rank, std::uint32_t) noexcept {
  if (shape.bytes == 0) return 0;
  return shape.ranks == 1 ? 1 : rounds_of(shape.ranks, 2) + 2;
}

Step all_gather_doubling_step(const Shape& shape, Rank position, std::uint32_t,
                              std::uint32_t index) noexcept {
  if (shape.ranks == 1) return copy_of(at(Space::in, 0), at(Space::out, 0), shape.bytes);
  if (index == 0) return copy_of(at(Space::in, 0), at(Space::scratch, position * shape.bytes), shape.bytes);
  const std::uint32_t k = index - 1;
  Step step;
  if (k == rounds_of(shape.ranks, 2)) {
    step = copy_of({Space::scratch, 0, shape.bytes}, {Space::out, 0, shape.pitch}, shape.bytes);
    step.runs = shape.ranks;
  } else {
    const Place had = at(Space::scratch, (position >> k << k) * shape.bytes);
    step = put_to(position ^ (Rank{1} << k), had, had, shape.bytes << k, static_cast<Counter>(k));
  }
  return k == 0 ? step : after(step, static_cast<Counter>(k - 1), 1);
}

Cost all_gather_doubling_cost(const Shape& shape) noexcept {
  if (shape.ranks == 1 || shape.bytes == 0) return {};
  const std::uint32_t rounds = rounds_of(shape.ranks, 2);
  return {.messages = std::uint64_t{rounds} * shape.ranks,
          .bytes = std::uint64_t{shape.ranks} * (shape.ranks - 1) * shape.bytes,
          .depth = rounds};
}

}  // namespace

const Algorithm kAllGatherDoubling{
    .name = "doubling",
    .operation = Operation::all_gather,
    .parameters = {},
    .refusal = [](const Shape& shape) noexcept -> const char* {
      return (shape.ranks & (shape.ranks - 1)) != 0 ? "it needs a power of two members" : nullptr;
    },
    .needs = all_gather_doubling_needs,
    .lanes = one_lane,
    .length = all_gather_doubling_length,
    .step = all_gather_doubling_step,
    .cost = all_gather_doubling_cost,
};

}  // namespace aqueduct::coll
