#include "coll/algorithms/algorithms.hpp"
#include "coll/algorithms/steps.hpp"

namespace aqueduct::coll {

// Every member puts its vector to all others, and combines the P vectors one after the other in team order. One message
// deep; the result does not depend on anything but the inputs. Few members and short vectors.

namespace {

constexpr Counter kVectors = 0;
constexpr Counter kVectorSent = 1;  // the input is free: it may be the output as well

Needs all_reduce_direct_needs(const Shape& shape) noexcept {
  if (shape.bytes == 0 || shape.ranks == 1) return {};
  return {.scratch = shape.ranks * shape.bytes, .temp = shape.bytes, .counters = 2};
}

// A put to each other member; the reductions; before the last of them the wait for the sources of the puts.
std::uint32_t all_reduce_direct_length(const Shape& shape, Rank, std::uint32_t) noexcept {
  if (shape.bytes == 0) return 0;
  return shape.ranks == 1 ? 1 : 2 * (shape.ranks - 1) + 1;
}

Step all_reduce_direct_step(const Shape& shape, Rank position, std::uint32_t, std::uint32_t index) noexcept {
  if (shape.ranks == 1) return copy_of(at(Space::in, 0), at(Space::out, 0), shape.bytes);
  const std::uint32_t others = shape.ranks - 1;
  if (index < others) {
    Step put = put_to(absolute(index + 1, position, shape.ranks), at(Space::in, 0),
                      at(Space::scratch, position * shape.bytes), shape.bytes, kVectors);
    put.done = kVectorSent;
    return put;
  }
  index -= others;
  if (index == 0) return wait_only(kVectorSent, others);
  --index;
  const auto value = [&](Rank of) {
    return of == position ? at(Space::in, 0) : at(Space::scratch, of * shape.bytes);
  };
  const Place to = at(index + 1 == others ? Space::out : Space::temp, 0);
  const Step step = reduction(index == 0 ? value(0) : at(Space::temp, 0), value(index + 1), to, shape.bytes);
  return index == 0 ? after(step, kVectors, others) : step;
}

Cost all_reduce_direct_cost(const Shape& shape) noexcept {
  if (shape.bytes == 0 || shape.ranks == 1) return {};
  const std::uint64_t edges = std::uint64_t{shape.ranks} * (shape.ranks - 1);
  return {.messages = edges, .bytes = edges * shape.bytes, .depth = 1};
}

}  // namespace

const Algorithm kAllReduceDirect{
    .name = "direct",
    .operation = Operation::all_reduce,
    .parameters = {},
    .refusal = no_refusal,
    .needs = all_reduce_direct_needs,
    .lanes = one_lane,
    .length = all_reduce_direct_length,
    .step = all_reduce_direct_step,
    .cost = all_reduce_direct_cost,
};

}  // namespace aqueduct::coll
