#include "coll/algorithms/algorithms.hpp"
#include "coll/algorithms/steps.hpp"
#include "coll/algorithms/windowed.hpp"

namespace aqueduct::coll {

// As `direct`, in windows: every member puts blocks into the outputs of its next `window` successors, and goes on when as many
// blocks have come from its predecessors and the sources of its own puts are free. So it has at most `window` sends in
// flight. Where members tell that they have called, or where their outputs are, each tells all others first.

namespace {

/// One by one these are the rounds of a pairwise exchange, without its scratch.
constexpr Parameter kAllToAllWindowedParameters[] = {{"window", 1, 1024, 16}};
/// Chosen: two counters for each window.
constexpr std::uint32_t kMostExchangeWindows = kMostWindowsOfRoot / 2;

constexpr Counter kExchangeCalled = 0;

Counter exchange_arrived(std::uint32_t window) noexcept { return static_cast<Counter>(1 + 2 * window); }
Counter exchange_sent(std::uint32_t window) noexcept { return static_cast<Counter>(2 + 2 * window); }

const char* all_to_all_windowed_refusal(const Shape& shape) noexcept {
  return Windows(shape).count() > kMostExchangeWindows
             ? "it needs two counters for each window of members: too many"
             : nullptr;
}

Needs all_to_all_windowed_needs(const Shape& shape) noexcept {
  if (shape.bytes == 0 || shape.ranks == 1) return {};
  return {.counters = 1 + 2 * Windows(shape).count()};
}

// The own copy, readiness to all; for each window a put to each of its members, and two waits.
std::uint32_t all_to_all_windowed_length(const Shape& shape, Rank, std::uint32_t) noexcept {
  if (shape.bytes == 0) return 0;
  return 1 + (asks(shape) ? 2 : 1) * (shape.ranks - 1) + 2 * Windows(shape).count();
}

Step all_to_all_windowed_step(const Shape& shape, Rank position, std::uint32_t,
                              std::uint32_t index) noexcept {
  const Place mine = at(Space::out, position * shape.pitch);
  if (index == 0) return copy_of(at(Space::in, position * shape.pitch), mine, shape.bytes);
  --index;
  const Windows windows(shape);
  if (asks(shape)) {
    if (index < windows.others) return signal_to(absolute(index + 1, position, shape.ranks), kExchangeCalled);
    index -= windows.others;
  }
  const std::uint32_t window = index / (windows.width + 2);
  const std::uint32_t turn = index % (windows.width + 2);
  const std::uint32_t width = windows.width_at(window);
  if (turn >= width)
    return wait_only(turn == width ? exchange_arrived(window) : exchange_sent(window), width);
  const Rank peer = absolute(window * windows.width + turn + 1, position, shape.ranks);
  Step put = put_to(peer, at(Space::in, peer * shape.pitch), mine, shape.bytes, exchange_arrived(window));
  put.done = exchange_sent(window);
  return asks(shape) && index == 0 ? after(put, kExchangeCalled, windows.others) : put;
}

Cost all_to_all_windowed_cost(const Shape& shape) noexcept {
  if (shape.ranks == 1 || shape.bytes == 0) return {};
  const std::uint64_t edges = std::uint64_t{shape.ranks} * (shape.ranks - 1);
  return {.messages = edges * (asks(shape) ? 2 : 1),
          .bytes = edges * shape.bytes,
          .depth = Windows(shape).count() + (asks(shape) ? 1 : 0)};
}

}  // namespace

const Algorithm kAllToAllWindowed{
    .name = "windowed",
    .operation = Operation::all_to_all,
    .parameters = kAllToAllWindowedParameters,
    .direct = true,
    .refusal = all_to_all_windowed_refusal,
    .needs = all_to_all_windowed_needs,
    .lanes = one_lane,
    .length = all_to_all_windowed_length,
    .step = all_to_all_windowed_step,
    .cost = all_to_all_windowed_cost,
};

}  // namespace aqueduct::coll
