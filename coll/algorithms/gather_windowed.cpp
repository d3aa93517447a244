#include "coll/algorithms/algorithms.hpp"
#include "coll/algorithms/windowed.hpp"

namespace aqueduct::coll {

// The root invites the others, a window of them at a time. Each puts its block into a slot of the root's scratch, which
// copies it to its place; then the slots serve the next window. Any addresses, every block travels once, and the root needs
// scratch for a window and not for all: long blocks of many members. One latency more for each window than `direct`.

namespace {

constexpr Counter kInvited = 0;  // at the others
// At the root: a counter for each window.

Needs gather_windowed_needs(const Shape& shape) noexcept {
  if (shape.bytes == 0 || shape.ranks == 1) return {};
  const Windows windows(shape);
  return {.scratch = std::min(windows.width, windows.others) * shape.bytes, .counters = windows.count()};
}

// The root: its own copy; of each window the invitations, then the copies. The others: a put.
std::uint32_t gather_windowed_length(const Shape& shape, Rank position, std::uint32_t) noexcept {
  if (shape.bytes == 0) return 0;
  return position == shape.root ? 2 * shape.ranks - 1 : 1;
}

Step gather_windowed_step(const Shape& shape, Rank position, std::uint32_t, std::uint32_t index) noexcept {
  const Windows windows(shape);
  if (position != shape.root) {
    const std::uint32_t turn = relative(position, shape.root, shape.ranks) - 1;
    const Place slot = at(Space::scratch, turn % windows.width * shape.bytes);
    return after(
        put_to(shape.root, at(Space::in, 0), slot, shape.bytes, static_cast<Counter>(turn / windows.width)),
        kInvited, 1);
  }
  if (index == 0) return copy_of(at(Space::in, 0), at(Space::out, position * shape.pitch), shape.bytes);
  --index;
  const std::uint32_t window = index / (2 * windows.width);
  const std::uint32_t in_window = index % (2 * windows.width);
  const std::uint32_t width = windows.width_at(window);
  const std::uint32_t slot = in_window % width;
  const Rank member = absolute(window * windows.width + slot + 1, shape.root, shape.ranks);
  if (in_window < width) return signal_to(member, kInvited);
  const Step copy =
      copy_of(at(Space::scratch, slot * shape.bytes), at(Space::out, member * shape.pitch), shape.bytes);
  return slot == 0 ? after(copy, static_cast<Counter>(window), width) : copy;
}

Cost gather_windowed_cost(const Shape& shape) noexcept {
  if (shape.ranks == 1 || shape.bytes == 0) return {};
  const Windows windows(shape);
  return {.messages = 2 * std::uint64_t{windows.others},
          .bytes = windows.others * shape.bytes,
          .depth = 2 * windows.count()};
}

}  // namespace

const Algorithm kGatherWindowed{
    .name = "windowed",
    .operation = Operation::gather,
    .parameters = kWindowedParameters,
    .refusal = windowed_refusal,
    .needs = gather_windowed_needs,
    .lanes = one_lane,
    .length = gather_windowed_length,
    .step = gather_windowed_step,
    .cost = gather_windowed_cost,
};

}  // namespace aqueduct::coll
