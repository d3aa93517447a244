#include "coll/algorithms/algorithms.hpp"
#include "coll/algorithms/broadcast_tree.hpp"
#include "coll/algorithms/circulant.hpp"

#include <array>
#include <bit>
#include <cstring>

namespace aqueduct::coll {

// The block is cut into n segments. In each of n - 1 + ceil(log2 P) rounds a member sends one segment and receives
// another, along the distances of a circulant graph: no number of rounds is smaller. Long blocks, any number of members.
//
// A member receives every segment once. The segments go to scratch and are copied to the output there.
// Cost:   P - 1 messages a segment. Time (n - 1 + log2 P)(latency + bytes/n · gap).
// Source: circulant.hpp.

namespace {

constexpr Parameter kBroadcastCirculantParameters[] = {{"segments", 1, kMostSegments, 8}};

struct CirculantBroadcast {
  Circulant graph;
  Segments parts;
  std::uint32_t rounds = 0;
  std::uint32_t skipped = 0;  ///< rounds of the first phase, so that the last one is whole

  explicit CirculantBroadcast(const Shape& shape) noexcept
      : graph(shape.ranks), parts(shape.bytes, shape.element, shape.parameters[0]) {
    if (shape.ranks == 1 || parts.count == 0) return;
    rounds = parts.count - 1 + graph.rounds;
    const std::uint32_t beyond = (parts.count - 1) % graph.rounds;
    skipped = beyond == 0 ? 0 : graph.rounds - beyond;
  }
  /// A round, counted with those that are skipped.
  struct Round {
    std::uint32_t of_phase;
    std::uint32_t phase_begins;
  };
  Round counted(std::uint32_t round) const noexcept {
    const std::uint32_t counted = round + skipped;
    const std::uint32_t of_phase = counted % graph.rounds;
    return {of_phase, counted - of_phase};
  }
  /// The segment that the member at `here`, not 0, receives in a round; negative if it receives none. `noted`: [member][round
  /// of a phase] what Circulant::received says; null: ask it.
  std::int64_t received(Rank here, const Round& round, const std::int8_t* noted) const noexcept {
    const std::int64_t first = noted == nullptr ? graph.received(here, round.of_phase)
                                                : noted[std::size_t{here} * graph.rounds + round.of_phase];
    const std::int64_t block = first + std::int64_t{round.phase_begins} - std::int64_t{skipped};
    // In the last phase a new segment would be one beyond the last. It is the last itself instead.
    return std::min<std::int64_t>(block, std::int64_t{parts.count} - 1);
  }
};

Needs broadcast_circulant_needs(const Shape& shape) noexcept {
  const CirculantBroadcast plan(shape);
  if (plan.rounds == 0) return {};
  return {.scratch = shape.bytes, .counters = plan.parts.count};
}

// Of each round the put and the copy, one of which may be missing. The root copies once, at the end.
std::uint32_t broadcast_circulant_length(const Shape& shape, Rank position, std::uint32_t) noexcept {
  const CirculantBroadcast plan(shape);
  if (position == shape.root) return shape.bytes == 0 ? 0 : plan.rounds + 1;
  return 2 * plan.rounds;
}

Step step_of(const CirculantBroadcast& plan, const std::int8_t* noted, const Shape& shape, Rank position,
             std::uint32_t index) noexcept {
  const Rank here = relative(position, shape.root, shape.ranks);
  if (here == 0 && index == plan.rounds) return copy_of(at(Space::in, 0), at(Space::out, 0), shape.bytes);
  const CirculantBroadcast::Round round = plan.counted(here == 0 ? index : index / 2);
  const bool sends = here == 0 || index % 2 == 0;
  Rank peer = kNoRank;
  std::int64_t segment = -1;
  if (sends) {
    peer = plan.graph.behind(here, round.of_phase);
    if (peer != 0) segment = plan.received(peer, round, noted);
  } else {
    segment = plan.received(here, round, noted);
  }
  if (segment < 0) return {};
  const auto number = static_cast<std::uint32_t>(segment);
  const std::uint64_t offset = plan.parts.begin(number);
  const std::uint64_t bytes = plan.parts.size(number);
  if (!sends)
    return after(copy_of(at(Space::scratch, offset), at(Space::out, offset), bytes),
                 static_cast<Counter>(number), 1);
  // A member copied the segment in an earlier round, so it need not wait here.
  return put_to(absolute(peer, shape.root, shape.ranks), at(here == 0 ? Space::in : Space::scratch, offset),
                at(Space::scratch, offset), bytes, static_cast<Counter>(number));
}

Step broadcast_circulant_step(const Shape& shape, Rank position, std::uint32_t,
                              std::uint32_t index) noexcept {
  return step_of(CirculantBroadcast(shape), nullptr, shape, position, index);
}

// The notes are the plan, and behind it what members receive.
using NotedPlan = std::array<std::int8_t, sizeof(CirculantBroadcast)>;

std::size_t broadcast_circulant_notes(const Shape& shape) noexcept {
  const CirculantBroadcast plan(shape);
  return plan.rounds == 0 ? 0 : sizeof(NotedPlan) + std::size_t{shape.ranks} * plan.graph.rounds;
}
void broadcast_circulant_write(const Shape& shape, std::span<std::int8_t> notes) noexcept {
  const CirculantBroadcast plan(shape);
  std::memcpy(notes.data(), &plan, sizeof plan);
  const std::span<std::int8_t> received = notes.subspan(sizeof plan);
  const std::uint32_t rounds = plan.graph.rounds;
  for (Rank here = 1; here < shape.ranks; ++here)
    plan.graph.received(here, received.subspan(std::size_t{here} * rounds, rounds));
}
Step broadcast_circulant_noted_step(const Shape& shape, std::span<const std::int8_t> notes, Rank position,
                                    std::uint32_t, std::uint32_t index) noexcept {
  NotedPlan plan;
  std::memcpy(plan.data(), notes.data(), sizeof plan);
  return step_of(std::bit_cast<CirculantBroadcast>(plan), notes.data() + sizeof plan, shape, position, index);
}

constexpr Noted kBroadcastCirculantNoted{broadcast_circulant_notes, broadcast_circulant_write,
                                         broadcast_circulant_noted_step,
                                         noted_brief_by<broadcast_circulant_noted_step>};

Cost broadcast_circulant_cost(const Shape& shape) noexcept {
  const CirculantBroadcast plan(shape);
  if (plan.rounds == 0) return {};
  return {.messages = std::uint64_t{shape.ranks - 1} * plan.parts.count,
          .bytes = (shape.ranks - 1) * shape.bytes,
          .depth = plan.rounds,
          .depth_is_limit = true};
}

}  // namespace

const Algorithm kBroadcastCirculant{
    .name = "circulant",
    .operation = Operation::broadcast,
    .parameters = kBroadcastCirculantParameters,
    .refusal = no_refusal,
    .needs = broadcast_circulant_needs,
    .lanes = one_lane,
    .length = broadcast_circulant_length,
    .step = broadcast_circulant_step,
    .cost = broadcast_circulant_cost,
    .noted = &kBroadcastCirculantNoted,
};

}  // namespace aqueduct::coll
