#include "coll/algorithms/algorithms.hpp"
#include "coll/algorithms/windowed.hpp"

namespace aqueduct::coll {

// The root puts each block into the scratch of its member, which copies it: a window of them at a time, the next when the
// puts of the one before have been taken from its input. Any addresses, every block travels once. It does not flood a network
// with short queues or with a narrow link at the root.

namespace {

constexpr Counter kScatteredHere = 0;  // at the others
// At the root: a counter for each window, of puts whose source is free.

Needs scatter_windowed_needs(const Shape& shape) noexcept {
  if (shape.bytes == 0 || shape.ranks == 1) return {};
  return {.scratch = shape.bytes, .counters = Windows(shape).count()};
}

// The root: of each window but the first a wait, then the puts; its own copy. The others: a copy.
std::uint32_t scatter_windowed_length(const Shape& shape, Rank position, std::uint32_t) noexcept {
  if (shape.bytes == 0) return 0;
  if (position != shape.root || shape.ranks == 1) return 1;
  return shape.ranks + Windows(shape).count() - 1;
}

Step scatter_windowed_step(const Shape& shape, Rank position, std::uint32_t, std::uint32_t index) noexcept {
  if (position != shape.root)
    return after(copy_of(at(Space::scratch, 0), at(Space::out, 0), shape.bytes), kScatteredHere, 1);
  const Windows windows(shape);
  if (shape.ranks == 1 || index + 1 == shape.ranks + windows.count() - 1)
    return copy_of(at(Space::in, position * shape.pitch), at(Space::out, 0), shape.bytes);
  // As if the first window had a wait too.
  const std::uint32_t window = (index + 1) / (windows.width + 1);
  const std::uint32_t in_window = (index + 1) % (windows.width + 1);
  if (in_window == 0) return wait_only(static_cast<Counter>(window - 1), windows.width);
  const Rank member = absolute(window * windows.width + in_window, shape.root, shape.ranks);
  Step put =
      put_to(member, at(Space::in, member * shape.pitch), at(Space::scratch, 0), shape.bytes, kScatteredHere);
  if (window + 1 < windows.count()) put.done = static_cast<Counter>(window);
  return put;
}

Cost scatter_windowed_cost(const Shape& shape) noexcept {
  if (shape.ranks == 1 || shape.bytes == 0) return {};
  const std::uint64_t edges = shape.ranks - 1;
  return {.messages = edges, .bytes = edges * shape.bytes, .depth = 1};
}

}  // namespace

const Algorithm kScatterWindowed{
    .name = "windowed",
    .operation = Operation::scatter,
    .parameters = kWindowedParameters,
    .refusal = windowed_refusal,
    .needs = scatter_windowed_needs,
    .lanes = one_lane,
    .length = scatter_windowed_length,
    .step = scatter_windowed_step,
    .cost = scatter_windowed_cost,
};

}  // namespace aqueduct::coll
