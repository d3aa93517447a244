#include "coll/algorithms/algorithms.hpp"
#include "coll/algorithms/steps.hpp"

namespace aqueduct::coll {

// The vector is cut into a part for each member. Every member puts its share of each part to the part's owner, who combines
// the shares in team order, and puts the sum into the outputs of the others. Two messages deep, and no byte is copied
// but an owner's sum. Long vectors, few members; keeps every order.
//
// Cost:   2 (P - 1) messages and 2 (P - 1) / P · bytes sent by each member.
// Source: a direct reduce-scatter, then a direct all-gather.

namespace {

constexpr Counter kShares = 0;
constexpr Counter kSums = 1;
constexpr Counter kOutputsReady = 2;

struct PartsReduction {
  Parts parts;
  Rank here;
  Rank others;

  PartsReduction(const Shape& shape, Rank position) noexcept
      : parts(shape), here(position), others(shape.ranks - 1) {}

  std::uint64_t mine() const noexcept { return parts.size(here, 1); }
  /// Where the share of another member waits at a part's owner.
  Place slot(Rank sender, Rank owner) const noexcept {
    return at(Space::scratch, (sender - (sender > owner ? 1 : 0)) * parts.longest());
  }
  Place share(Rank sender) const noexcept {
    return sender == here ? at(Space::in, parts.begin(here)) : slot(sender, here);
  }
  /// The sum of the shares up to a member's: in the first slot, whose share is in it. To reduce in place reads and writes
  /// two streams of memory instead of three.
  Place sum_up_to(Rank sender) const noexcept { return sender == 0 ? share(0) : at(Space::scratch, 0); }
};

Needs all_reduce_parts_needs(const Shape& shape) noexcept {
  if (shape.bytes == 0 || shape.ranks == 1) return {};
  return {.scratch = (shape.ranks - 1) * Parts(shape).longest(), .counters = announces(shape) ? 3u : 2u};
}

// Where the output is, to all; the shares; the sums of shares; the own sum to all, and to the output while theirs travel;
// the wait for theirs.
std::uint32_t all_reduce_parts_length(const Shape& shape, Rank, std::uint32_t) noexcept {
  if (shape.bytes == 0) return 0;
  if (shape.ranks == 1) return 1;
  return (announces(shape) ? 4 : 3) * (shape.ranks - 1) + 2;
}

Step all_reduce_parts_step(const Shape& shape, Rank position, std::uint32_t, std::uint32_t index) noexcept {
  if (shape.ranks == 1) return copy_of(at(Space::in, 0), at(Space::out, 0), shape.bytes);
  const PartsReduction plan(shape, position);
  const Rank others = plan.others;
  if (announces(shape)) {
    if (index < others) return signal_to(absolute(index + 1, position, shape.ranks), kOutputsReady);
    index -= others;
  }
  if (index < others) {
    const Rank owner = absolute(index + 1, position, shape.ranks);
    return put_to(owner, at(Space::in, plan.parts.begin(owner)), plan.slot(position, owner),
                  plan.parts.size(owner, 1), kShares);
  }
  index -= others;
  if (index < others) {
    const Step step =
        reduction(plan.sum_up_to(index), plan.share(index + 1), plan.sum_up_to(index + 1), plan.mine());
    return index == 0 ? after(step, kShares, others) : step;
  }
  index -= others;
  const Place sum = plan.sum_up_to(others);
  const Place result = at(Space::out, plan.parts.begin(position));
  if (index == others) return copy_of(sum, result, plan.mine());
  if (index > others) return wait_only(kSums, others);
  const Step put = put_to(absolute(index + 1, position, shape.ranks), sum, result, plan.mine(), kSums);
  return announces(shape) && index == 0 ? after(put, kOutputsReady, others) : put;
}

Cost all_reduce_parts_cost(const Shape& shape) noexcept {
  if (shape.ranks == 1 || shape.bytes == 0) return {};
  const std::uint64_t edges = std::uint64_t{shape.ranks} * (shape.ranks - 1);
  return {.messages = edges * (announces(shape) ? 3 : 2),
          .bytes = 2 * (shape.ranks - 1) * shape.bytes,
          .depth = 2};
}

}  // namespace

const Algorithm kAllReduceParts{
    .name = "parts",
    .operation = Operation::all_reduce,
    .parameters = {},
    .direct = true,
    .cuts = true,
    .refusal = no_refusal,
    .needs = all_reduce_parts_needs,
    .lanes = one_lane,
    .length = all_reduce_parts_length,
    .step = all_reduce_parts_step,
    .cost = all_reduce_parts_cost,
};

}  // namespace aqueduct::coll
