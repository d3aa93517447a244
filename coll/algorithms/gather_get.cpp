#include "coll/algorithms/algorithms.hpp"
#include "coll/algorithms/arrivals.hpp"
#include "coll/algorithms/reading.hpp"

namespace aqueduct::coll {

// The root reads every block from its member, so it is never written to by all at once: its gets are paced by itself. If
// blocks are long each is read as soon as it is announced; otherwise when all are.

namespace {

constexpr Counter kGatherGot = 0;
constexpr Counter kGatherTaken = 1;
constexpr Counter kGatherThere = 2;

ChildCounters gathered_there(const Shape& shape) noexcept {
  return {kGatherThere, shape.ranks - 1, shape.bytes};
}

Needs gather_get_needs(const Shape& shape) noexcept {
  if (shape.ranks == 1 || shape.bytes == 0) return {};
  return {.scratch = reads_buffers(shape) ? 0 : shape.bytes,
          .counters = kGatherThere + gathered_there(shape).count};
}

// The root: a get from each other member, their end, an answer to each, its own copy. The others: a copy to scratch, if
// their block cannot be read where it is, the news, and the wait for the answer.
std::uint32_t gather_get_length(const Shape& shape, Rank position, std::uint32_t) noexcept {
  if (shape.bytes == 0) return 0;
  if (shape.ranks == 1) return 1;
  const std::uint32_t others = shape.ranks - 1;
  const std::uint32_t answers = answers_to_owner(shape) ? 1 : 0;
  if (position == shape.root) return others + 2 + answers * others;
  return (reads_buffers(shape) ? 0 : 1) + (tells_of_input(shape) ? 1 : 0) + answers;
}

Step gather_get_step(const Shape& shape, Rank position, std::uint32_t, std::uint32_t index) noexcept {
  const std::uint32_t others = shape.ranks - 1;
  if (position != shape.root) {
    if (!reads_buffers(shape) && index-- == 0)
      return copy_of(at(Space::in, 0), at(Space::scratch, 0), shape.bytes);
    if (!tells_of_input(shape) || index == 1) return wait_only(kGatherTaken, 1);
    const std::uint32_t turn = relative(position, shape.root, shape.ranks) - 1;
    return signal_to(shape.root, gathered_there(shape).of(turn));
  }
  if (index + 1 == gather_get_length(shape, position, 0))
    return copy_of(at(Space::in, 0), at(Space::out, position * shape.pitch), shape.bytes);
  if (index == others) return wait_only(kGatherGot, others);
  if (index > others) return signal_to(absolute(index - others, shape.root, shape.ranks), kGatherTaken);
  const Rank peer = absolute(index + 1, shape.root, shape.ranks);
  const Step get = get_from(peer, at(reads_buffers(shape) ? Space::in : Space::scratch, 0),
                            at(Space::out, peer * shape.pitch), shape.bytes, kGatherGot);
  return tells_of_input(shape) ? gathered_there(shape).when_arrived(get, index, others) : get;
}

Cost gather_get_cost(const Shape& shape) noexcept {
  return cost_of_reading(shape, shape.ranks - 1, tells_of_input(shape) + answers_to_owner(shape));
}

}  // namespace

const Algorithm kGatherGet{
    .name = "get",
    .operation = Operation::gather,
    .parameters = {},
    .reads = true,
    .refusal = no_refusal,
    .needs = gather_get_needs,
    .lanes = one_lane,
    .length = gather_get_length,
    .step = gather_get_step,
    .cost = gather_get_cost,
    .brief = brief_by<gather_get_step>,
};

}  // namespace aqueduct::coll
