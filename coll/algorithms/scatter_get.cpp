#include "coll/algorithms/algorithms.hpp"
#include "coll/algorithms/reading.hpp"

namespace aqueduct::coll {

// Every member reads its block from the root.

namespace {

constexpr Counter kScatterGot = 0;
constexpr Counter kScatterThere = 1;
constexpr Counter kScatterTaken = 2;

Needs scatter_get_needs(const Shape& shape) noexcept {
  if (shape.ranks == 1 || shape.bytes == 0) return {};
  return {.scratch = reads_buffers(shape) ? 0 : (shape.ranks - 1) * shape.bytes, .counters = 3};
}

/// Steps of the root for one member: a copy of its block, if it cannot be read where it is, and the news.
std::uint32_t for_one(const Shape& shape) noexcept {
  return (reads_buffers(shape) ? 0 : 1) + (tells_of_input(shape) ? 1 : 0);
}

// The root serves each other member, copies its own block, and waits for all. The others: the get, its end, the answer.
std::uint32_t scatter_get_length(const Shape& shape, Rank position, std::uint32_t) noexcept {
  if (shape.bytes == 0) return 0;
  if (shape.ranks == 1) return 1;
  const std::uint32_t answer = answers_to_owner(shape) ? 1 : 0;
  return position == shape.root ? (shape.ranks - 1) * for_one(shape) + 1 + answer : 2 + answer;
}

Step scatter_get_step(const Shape& shape, Rank position, std::uint32_t, std::uint32_t index) noexcept {
  const auto slot = [&](Rank here) { return at(Space::scratch, (here - 1) * shape.bytes); };
  if (position == shape.root) {
    const std::uint32_t serving = (shape.ranks - 1) * for_one(shape);
    if (index == serving)
      return copy_of(at(Space::in, position * shape.pitch), at(Space::out, 0), shape.bytes);
    if (index > serving) return wait_only(kScatterTaken, shape.ranks - 1);
    const Rank here = index / for_one(shape) + 1;
    const Rank peer = absolute(here, shape.root, shape.ranks);
    if (index % for_one(shape) + 1 == for_one(shape)) return signal_to(peer, kScatterThere);
    return copy_of(at(Space::in, peer * shape.pitch), slot(here), shape.bytes);
  }
  if (index == 1) return wait_only(kScatterGot, 1);
  if (index == 2) return signal_to(shape.root, kScatterTaken);
  const Place from = reads_buffers(shape) ? at(Space::in, position * shape.pitch)
                                          : slot(relative(position, shape.root, shape.ranks));
  const Step get = get_from(shape.root, from, at(Space::out, 0), shape.bytes, kScatterGot);
  return tells_of_input(shape) ? after(get, kScatterThere, 1) : get;
}

Cost scatter_get_cost(const Shape& shape) noexcept {
  return cost_of_reading(shape, shape.ranks - 1, tells_of_input(shape) + answers_to_owner(shape));
}

}  // namespace

const Algorithm kScatterGet{
    .name = "get",
    .operation = Operation::scatter,
    .parameters = {},
    .reads = true,
    .refusal = no_refusal,
    .needs = scatter_get_needs,
    .lanes = one_lane,
    .length = scatter_get_length,
    .step = scatter_get_step,
    .cost = scatter_get_cost,
    .brief = brief_by<scatter_get_step>,
};

}  // namespace aqueduct::coll
