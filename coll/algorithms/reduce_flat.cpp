#include "coll/algorithms/algorithms.hpp"
#include "coll/algorithms/arrivals.hpp"
#include "coll/algorithms/steps.hpp"

namespace aqueduct::coll {

// Every member puts its vector to the root, which has a slot for each and combines one after the other in team order,
// whoever is the root. The result does not depend on anything but the inputs. Few members.

namespace {

MemberCounters flat_vectors(const Shape& shape) noexcept { return {0, shape.ranks, shape.bytes}; }

Needs reduce_flat_needs(const Shape& shape) noexcept {
  if (shape.bytes == 0 || shape.ranks == 1) return {};
  return {.scratch = shape.ranks * shape.bytes, .temp = shape.bytes, .counters = flat_vectors(shape).count};
}

std::uint32_t reduce_flat_length(const Shape& shape, Rank position, std::uint32_t) noexcept {
  if (shape.bytes == 0) return 0;
  return position != shape.root || shape.ranks == 1 ? 1 : shape.ranks - 1;
}

Step reduce_flat_step(const Shape& shape, Rank position, std::uint32_t, std::uint32_t index) noexcept {
  if (shape.ranks == 1) return copy_of(at(Space::in, 0), at(Space::out, 0), shape.bytes);
  if (position != shape.root)
    return put_to(shape.root, at(Space::in, 0), at(Space::scratch, position * shape.bytes), shape.bytes,
                  flat_vectors(shape).of(position));
  const auto value = [&](Rank of) {
    return of == position ? at(Space::in, 0) : at(Space::scratch, of * shape.bytes);
  };
  // The output may be the input, which is needed until its turn.
  const Place to = at(index + 2 == shape.ranks ? Space::out : Space::temp, 0);
  const Step step = reduction(index == 0 ? value(0) : at(Space::temp, 0), value(index + 1), to, shape.bytes);
  return flat_vectors(shape).when_arrived(step, index, position);
}

Cost reduce_flat_cost(const Shape& shape) noexcept {
  if (shape.bytes == 0 || shape.ranks == 1) return {};
  const std::uint64_t edges = shape.ranks - 1;
  return {.messages = edges, .bytes = edges * shape.bytes, .depth = 1};
}

}  // namespace

const Algorithm kReduceFlat{
    .name = "flat",
    .operation = Operation::reduce,
    .parameters = {},
    .refusal = no_refusal,
    .needs = reduce_flat_needs,
    .lanes = one_lane,
    .length = reduce_flat_length,
    .step = reduce_flat_step,
    .cost = reduce_flat_cost,
};

}  // namespace aqueduct::coll
