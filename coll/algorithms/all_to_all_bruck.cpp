#include "coll/algorithms/algorithms.hpp"
#include "coll/algorithms/steps.hpp"

#include <algorithm>

namespace aqueduct::coll {

// Every member keeps P blocks, the one at index i for the member i behind it. In the round of width w = k^j it puts the
// blocks whose index has the digit d in place j to the member d·w behind it, for each d from 1 to k - 1; there they have
// the same index. After all rounds the block at index i is from the member i before. Any number of members;
// ceil(log_k P) rounds: short blocks.
//
// Blocks of one digit are runs of w blocks, k·w apart; the last run may be shorter, and is then a put of its own.
// Source: Bruck et al., IEEE Trans. Parallel Distrib. Syst. 8(11), 1997.

namespace {

constexpr Parameter kAllToAllBruckParameters[] = {{"radix", 2, 64, 2}};

/// The blocks whose index has a digit of `least` or more in the place of this width, but less than `least + digits`: runs,
/// and what is left at the end.
struct BruckRuns {
  std::uint64_t first;   ///< index of the first block
  std::uint64_t length;  ///< of a run
  std::uint64_t period;
  std::uint64_t runs;  ///< whole ones
  std::uint64_t rest;  ///< blocks of the last run if it is shorter

  BruckRuns(const Shape& shape, std::uint64_t width, std::uint64_t least, std::uint64_t digits) noexcept
      : first(least * width),
        length(digits * width),
        period(shape.parameters[0] * width),
        runs(first < shape.ranks ? (shape.ranks - first) / period : 0),
        rest(0) {
    if (first >= shape.ranks) return;
    const std::uint64_t left = shape.ranks - first - runs * period;
    if (left >= length)
      ++runs;
    else
      rest = left;
  }
  std::uint32_t pieces() const noexcept { return (runs > 0 ? 1 : 0) + (rest > 0 ? 1 : 0); }
  std::uint64_t blocks() const noexcept { return runs * length + rest; }
};

struct BruckRound {
  std::uint64_t width = 1;
  std::uint32_t round = 0;
  std::uint32_t puts = 0;
  std::uint32_t copies = 0;  ///< of arrived blocks that move on in a later round

  BruckRound(const Shape& shape, std::uint32_t number) noexcept : round(number) {
    for (std::uint32_t i = 0; i < number; ++i) width *= shape.parameters[0];
    for (std::uint32_t digit = 1; digit < shape.parameters[0] && digit * width < shape.ranks; ++digit)
      puts += BruckRuns(shape, width, digit, 1).pieces();
    copies = going_on(shape).pieces();
  }
  BruckRuns moving(const Shape& shape) const noexcept { return {shape, width, 1, shape.parameters[0] - 1}; }
  /// Of the moving blocks, those that have a higher digit.
  BruckRuns going_on(const Shape& shape) const noexcept {
    return {shape, width, shape.parameters[0] + 1, shape.parameters[0] - 1};
  }
  // The puts; if blocks go on, the wait for the sources of the puts, and copies over these.
  std::uint32_t length() const noexcept { return puts + (copies > 0 ? 1 + copies : 0); }
  Counter arrived() const noexcept { return static_cast<Counter>(2 * round); }
  Counter sent() const noexcept { return static_cast<Counter>(2 * round + 1); }
  std::uint64_t slots(const Shape& shape) const noexcept { return std::uint64_t{round} * shape.ranks; }
};

Step bruck_piece(Step step, const Shape& shape, const BruckRuns& runs, bool rest, std::uint64_t slots,
                 bool puts) noexcept {
  const std::uint64_t index = runs.first + (rest ? runs.runs * runs.period : 0);
  const Place mine{Space::temp, index * shape.bytes, runs.period * shape.bytes};
  const Place slot{Space::scratch, (slots + index) * shape.bytes, runs.period * shape.bytes};
  step.from = puts ? mine : slot;
  step.to = puts ? slot : mine;
  step.bytes = (rest ? runs.rest : runs.length) * shape.bytes;
  step.runs = rest ? 1 : runs.runs;
  return step;
}

Step bruck_step(const Shape& shape, Rank position, const BruckRound& round, std::uint32_t index) noexcept {
  const std::uint64_t slots = round.slots(shape);
  if (index < round.puts) {
    std::uint32_t digit = 1;
    BruckRuns runs(shape, round.width, digit, 1);
    for (; index >= runs.pieces(); runs = BruckRuns(shape, round.width, ++digit, 1)) index -= runs.pieces();
    Step put =
        put_to(static_cast<Rank>((position + digit * round.width) % shape.ranks), {}, {}, 0, round.arrived());
    if (round.copies > 0) put.done = round.sent();
    return bruck_piece(put, shape, runs, index == 1 || runs.runs == 0, slots, true);
  }
  index -= round.puts;
  if (index == 0) return wait_only(round.sent(), round.puts);
  const BruckRuns runs = round.going_on(shape);
  const Step copy = bruck_piece(copy_of({}, {}, 0), shape, runs, index == 2 || runs.runs == 0, slots, false);
  return index == 1 ? after(copy, round.arrived(), round.puts) : copy;
}

Needs all_to_all_bruck_needs(const Shape& shape) noexcept {
  if (shape.bytes == 0 || shape.ranks == 1) return {};
  const std::uint32_t rounds = rounds_of(shape.ranks, shape.parameters[0]);
  return {.scratch = std::uint64_t{rounds} * shape.ranks * shape.bytes,
          .temp = shape.ranks * shape.bytes,
          .counters = 2 * rounds};
}

/// The blocks that moved last in a round: those of the indexes whose highest digit is in its place. The block at index i is from
/// the member i before, so they go to the output backwards, in two copies where they go round its end.
struct BruckLanding {
  BruckRound round;
  std::uint64_t first;  ///< index of the first block
  std::uint64_t end;
  std::uint64_t
      turn;  ///< the index from which on blocks go to the end of the output; `first` or `end`: all or none do

  BruckLanding(const Shape& shape, Rank position, std::uint32_t number) noexcept
      : round(shape, number),
        first(round.width),
        end(std::min<std::uint64_t>(round.width * shape.parameters[0], shape.ranks)),
        turn(std::clamp<std::uint64_t>(std::uint64_t{position} + 1, first, end)) {}

  std::uint32_t copies() const noexcept { return turn > first && turn < end ? 2 : 1; }
  Step copy(const Shape& shape, Rank position, std::uint32_t index) const noexcept {
    const std::uint64_t begin = index == 0 ? first : turn;
    const auto source = absolute(static_cast<Rank>(shape.ranks - begin), position, shape.ranks);
    Step step = copy_of({Space::scratch, (round.slots(shape) + begin) * shape.bytes, shape.bytes},
                        {Space::out, source * shape.pitch, backwards(shape.pitch)}, shape.bytes);
    step.runs = (index == 0 && turn > first ? turn : end) - begin;
    return index == 0 && round.copies == 0 ? after(step, round.arrived(), round.puts) : step;
  }
};

// Two copies that turn the input, member 0 one; the rounds; the copies to the output.
std::uint32_t all_to_all_bruck_length(const Shape& shape, Rank position, std::uint32_t) noexcept {
  if (shape.bytes == 0) return 0;
  if (shape.ranks == 1) return 1;
  std::uint32_t length = (position == 0 ? 1 : 2) + 1;
  for (std::uint32_t i = rounds_of(shape.ranks, shape.parameters[0]); i-- > 0;) {
    const BruckLanding landing(shape, position, i);
    length += landing.round.length() + landing.copies();
  }
  return length;
}

Step all_to_all_bruck_step(const Shape& shape, Rank position, std::uint32_t, std::uint32_t index) noexcept {
  if (shape.ranks == 1) return copy_of(at(Space::in, 0), at(Space::out, 0), shape.bytes);
  const std::uint32_t copies = position == 0 ? 1 : 2;
  if (index < copies) {
    const Rank behind = shape.ranks - position;
    Step copy = copy_of({Space::in, index == 0 ? position * shape.pitch : 0, shape.pitch},
                        {Space::temp, index == 0 ? 0 : behind * shape.bytes, shape.bytes}, shape.bytes);
    copy.runs = index == 0 ? behind : position;
    return copy;
  }
  index -= copies;
  const std::uint32_t rounds = rounds_of(shape.ranks, shape.parameters[0]);
  for (std::uint32_t i = 0; i < rounds; ++i) {
    const BruckRound round(shape, i);
    if (index < round.length()) return bruck_step(shape, position, round, index);
    index -= round.length();
  }
  if (index == 0) return copy_of(at(Space::temp, 0), at(Space::out, position * shape.pitch), shape.bytes);
  --index;
  for (std::uint32_t i = 0;; ++i) {
    const BruckLanding landing(shape, position, i);
    if (index < landing.copies()) return landing.copy(shape, position, index);
    index -= landing.copies();
  }
}

Cost all_to_all_bruck_cost(const Shape& shape) noexcept {
  if (shape.bytes == 0 || shape.ranks == 1) return {};
  Cost cost{.depth = 1};
  for (std::uint32_t i = 0; i < rounds_of(shape.ranks, shape.parameters[0]); ++i) {
    const BruckRound round(shape, i);
    cost.messages += std::uint64_t{round.puts} * shape.ranks;
    cost.bytes += round.moving(shape).blocks() * shape.bytes * shape.ranks;
    if (round.copies > 0) ++cost.depth;  // the next round has to wait for these
  }
  return cost;
}

}  // namespace

const Algorithm kAllToAllBruck{
    .name = "bruck",
    .operation = Operation::all_to_all,
    .parameters = kAllToAllBruckParameters,
    .refusal = no_refusal,
    .needs = all_to_all_bruck_needs,
    .lanes = one_lane,
    .length = all_to_all_bruck_length,
    .step = all_to_all_bruck_step,
    .cost = all_to_all_bruck_cost,
};

}  // namespace aqueduct::coll
