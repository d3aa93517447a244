#include "coll/algorithms/algorithms.hpp"
#include "coll/algorithms/steps.hpp"

namespace aqueduct::coll {

// P - 1 rounds: in round s a member puts to the member s behind it, and takes the block of the member s before it; with a
// power of two, both are the member whose number differs by the bits of s. The next round begins when that block has
// arrived, so at any time a member is written to by few others. Blocks go through scratch: any addresses.

namespace {

/// Chosen: counters are leased from a few hundred.
constexpr Rank kMostPairwise = 230;

Rank pairwise_target(const Shape& shape, Rank position, std::uint32_t round) noexcept {
  const bool power = (shape.ranks & (shape.ranks - 1)) == 0;
  return power ? position ^ round : absolute(round, position, shape.ranks);
}
Rank pairwise_source(const Shape& shape, Rank position, std::uint32_t round) noexcept {
  const bool power = (shape.ranks & (shape.ranks - 1)) == 0;
  return power ? position ^ round : absolute(shape.ranks - round, position, shape.ranks);
}

// A slot and a counter for each round.
Needs all_to_all_pairwise_needs(const Shape& shape) noexcept {
  if (shape.bytes == 0 || shape.ranks == 1) return {};
  return {.scratch = (shape.ranks - 1) * shape.bytes, .counters = shape.ranks - 1};
}

// The own copy; a put and a copy for each round.
std::uint32_t all_to_all_pairwise_length(const Shape& shape, Rank, std::uint32_t) noexcept {
  return shape.bytes == 0 ? 0 : 2 * shape.ranks - 1;
}

Step all_to_all_pairwise_step(const Shape& shape, Rank position, std::uint32_t,
                              std::uint32_t index) noexcept {
  if (index == 0)
    return copy_of(at(Space::in, position * shape.pitch), at(Space::out, position * shape.pitch),
                   shape.bytes);
  const std::uint32_t round = (index + 1) / 2;
  const Place slot = at(Space::scratch, (round - 1) * shape.bytes);
  const auto arrived = static_cast<Counter>(round - 1);
  if (index % 2 == 1) {
    const Rank peer = pairwise_target(shape, position, round);
    return put_to(peer, at(Space::in, peer * shape.pitch), slot, shape.bytes, arrived);
  }
  const Rank source = pairwise_source(shape, position, round);
  return after(copy_of(slot, at(Space::out, source * shape.pitch), shape.bytes), arrived, 1);
}

Cost all_to_all_pairwise_cost(const Shape& shape) noexcept {
  if (shape.ranks == 1 || shape.bytes == 0) return {};
  const std::uint64_t edges = std::uint64_t{shape.ranks} * (shape.ranks - 1);
  return {.messages = edges, .bytes = edges * shape.bytes, .depth = shape.ranks - 1};
}

}  // namespace

const Algorithm kAllToAllPairwise{
    .name = "pairwise",
    .operation = Operation::all_to_all,
    .parameters = {},
    .refusal = [](const Shape& shape) noexcept -> const char* {
      return shape.ranks > kMostPairwise ? "it needs a counter for each member: too many" : nullptr;
    },
    .needs = all_to_all_pairwise_needs,
    .lanes = one_lane,
    .length = all_to_all_pairwise_length,
    .step = all_to_all_pairwise_step,
    .cost = all_to_all_pairwise_cost,
};

}  // namespace aqueduct::coll
