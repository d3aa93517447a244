#include "coll/algorithms/algorithms.hpp"
#include "coll/algorithms/steps.hpp"

#include <algorithm>
#include <bit>

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
constexpr std::uint32_t kNoRound = 0xffffffff;

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
  std::uint64_t blocks() const noexcept { return runs * length + rest; }
};

struct BruckRound {
  std::uint64_t width = 1;
  std::uint32_t round = 0;
  std::uint32_t puts = 0;
  std::uint32_t copies = 0;  ///< of arrived blocks that move on in a later round
  std::uint32_t twice = 0;   ///< the digit whose blocks are two puts, as the last run is shorter; 0: none

  BruckRound(const Shape& shape, std::uint32_t number) noexcept
      : BruckRound(shape, number, width_of(shape, number)) {}
  BruckRound next(const Shape& shape) const noexcept {
    return {shape, round + 1, width * shape.parameters[0]};
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

 private:
  // The blocks are `whole` periods and `left` more, which are `full` digits and a part of the next one.
  BruckRound(const Shape& shape, std::uint32_t number, std::uint64_t of_width) noexcept
      : width(of_width), round(number) {
    const std::uint64_t period = width * shape.parameters[0];
    const std::uint64_t whole = shape.ranks / period;
    const std::uint64_t left = shape.ranks % period;
    const auto full = static_cast<std::uint32_t>(left / width);
    const bool has_part = full > 0 && left > full * width;
    if (whole == 0) {
      puts = full - 1 + (has_part ? 1 : 0);
      return;
    }
    puts = shape.parameters[0] - 1 + (has_part ? 1 : 0);
    twice = has_part ? full : 0;
    copies = (whole > 1 ? 1 : 0) + (left > width ? 1 : 0);
  }
  static std::uint64_t width_of(const Shape& shape, std::uint32_t number) noexcept {
    const std::uint32_t radix = shape.parameters[0];
    if (std::has_single_bit(radix)) return std::uint64_t{1} << (number * std::countr_zero(radix));
    std::uint64_t width = 1;
    for (std::uint32_t i = 0; i < number; ++i) width *= radix;
    return width;
  }
};

/// So many rounds from the first on are alike: each digit has one put, all blocks go on, and all of that in one copy. Only
/// where this is quickly known.
std::uint32_t alike_rounds(const Shape& shape, std::uint32_t rounds) noexcept {
  const std::uint32_t radix = shape.parameters[0];
  if (!std::has_single_bit(radix)) return 0;
  const auto even = static_cast<std::uint32_t>(std::countr_zero(shape.ranks) / std::countr_zero(radix));
  return std::min(even, rounds - 1);
}
constexpr std::uint32_t length_of_alike(const Shape& shape) noexcept { return shape.parameters[0] + 1; }

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
    const bool is_second = round.twice != 0 && index == round.twice;
    const std::uint32_t digit = index + (round.twice != 0 && index >= round.twice ? 0 : 1);
    const BruckRuns runs(shape, round.width, digit, 1);
    Step put =
        put_to(static_cast<Rank>((position + digit * round.width) % shape.ranks), {}, {}, 0, round.arrived());
    if (round.copies > 0) put.done = round.sent();
    return bruck_piece(put, shape, runs, is_second || runs.runs == 0, slots, true);
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

  BruckLanding(const Shape& shape, Rank position, const BruckRound& of) noexcept
      : round(of),
        first(round.width),
        end(std::min<std::uint64_t>(round.width * shape.parameters[0], shape.ranks)),
        turn(std::clamp<std::uint64_t>(std::uint64_t{position} + 1, first, end)) {}

  bool is_two() const noexcept { return turn > first && turn < end; }
  Step copy(const Shape& shape, Rank position, std::uint32_t index) const noexcept {
    const std::uint64_t begin = index == 0 ? first : turn;
    const auto source = absolute(static_cast<Rank>(shape.ranks - begin), position, shape.ranks);
    Step step = copy_of({Space::scratch, (round.slots(shape) + begin) * shape.bytes, shape.bytes},
                        {Space::out, source * shape.pitch, backwards(shape.pitch)}, shape.bytes);
    step.runs = (index == 0 && turn > first ? turn : end) - begin;
    return index == 0 && round.copies == 0 ? after(step, round.arrived(), round.puts) : step;
  }
};

/// The only round, if any, whose blocks go to the output in two copies; else one that is not reached.
std::uint32_t landing_in_two(const Shape& shape, Rank position) noexcept {
  const std::uint32_t radix = shape.parameters[0];
  if (position == 0 || position + 1 == shape.ranks) return kNoRound;
  std::uint32_t round = 0;
  std::uint64_t end = radix;
  for (; end <= position; end *= radix) ++round;
  return std::uint64_t{position} + 1 < end ? round : kNoRound;
}

// Two copies that turn the input, member 0 one; the rounds; the copies to the output.
std::uint32_t all_to_all_bruck_length(const Shape& shape, Rank position, std::uint32_t) noexcept {
  if (shape.bytes == 0) return 0;
  if (shape.ranks == 1) return 1;
  const std::uint32_t rounds = rounds_of(shape.ranks, shape.parameters[0]);
  const std::uint32_t alike = alike_rounds(shape, rounds);
  std::uint32_t length = (position == 0 ? 1 : 2) + 1 + alike * length_of_alike(shape);
  BruckRound round(shape, alike);
  for (std::uint32_t i = alike; i < rounds; ++i, round = round.next(shape)) length += round.length();
  return length + rounds + (landing_in_two(shape, position) < rounds ? 1 : 0);
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
  const std::uint32_t skipped = std::min(index / length_of_alike(shape), alike_rounds(shape, rounds));
  index -= skipped * length_of_alike(shape);
  BruckRound round(shape, skipped);
  for (std::uint32_t i = skipped; i < rounds; ++i, round = round.next(shape)) {
    if (index < round.length()) return bruck_step(shape, position, round, index);
    index -= round.length();
  }
  if (index == 0) return copy_of(at(Space::temp, 0), at(Space::out, position * shape.pitch), shape.bytes);
  --index;
  const bool is_behind = index > landing_in_two(shape, position);
  const BruckLanding landing(shape, position, BruckRound(shape, is_behind ? index - 1 : index));
  return landing.copy(shape, position, is_behind && landing.is_two() ? 1 : 0);
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
