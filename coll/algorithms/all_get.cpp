#include "coll/algorithms/algorithms.hpp"
#include "coll/algorithms/arrivals.hpp"
#include "coll/algorithms/reading.hpp"

namespace aqueduct::coll {

// All-gather and all-to-all: every member reads a block from each other, beginning with its successor, so that no member is
// read from by all at once. In scratch an all-gather needs its own block alone, where blocks that are put need room for
// all of them. Where outputs are known, that block is read from the output of its member, which has it there first: in place
// it has nothing to do.

namespace {

constexpr Counter kAllGot = 0;
constexpr Counter kAllTaken = 1;
constexpr Counter kFirstThere = 2;

std::uint32_t read_peers(const Shape& shape) noexcept { return shape.ranks - 1; }
bool is_exchange(const Shape& shape) noexcept { return shape.operation == Operation::all_to_all; }
ChildCounters all_there(const Shape& shape) noexcept { return {kFirstThere, read_peers(shape), shape.bytes}; }

/// Where a member finds its block at `owner`.
Place block_at(const Shape& shape, Rank owner, Rank reader) noexcept {
  if (!reads_buffers(shape)) return at(Space::scratch, is_exchange(shape) ? reader * shape.bytes : 0);
  return is_exchange(shape) ? at(Space::in, reader * shape.pitch) : at(Space::out, owner * shape.pitch);
}
/// Whether readers must be told. An output of an all-gather must be written first.
bool tells(const Shape& shape) noexcept { return !is_exchange(shape) || tells_of_input(shape); }
bool answers(const Shape& shape) noexcept { return answers_to_owner(shape); }

Needs all_get_needs(const Shape& shape) noexcept {
  if (shape.ranks == 1 || shape.bytes == 0) return {};
  const std::uint64_t blocks = is_exchange(shape) ? shape.ranks : 1;
  return {.scratch = reads_buffers(shape) ? 0 : blocks * shape.bytes,
          .counters = kFirstThere + all_there(shape).count};
}

/// The steps before the news: the own block to the output; what others read to scratch, of an all-to-all without the own
/// block, and so in two pieces.
std::uint32_t copies_first(const Shape& shape) noexcept {
  return 1 + (reads_buffers(shape) ? 0 : is_exchange(shape) ? 2 : 1);
}
Step copy_first(const Shape& shape, Rank position, std::uint32_t which) noexcept {
  const std::uint64_t own = is_exchange(shape) ? position : 0;
  if (which == 0)
    return copy_of(at(Space::in, own * shape.pitch), at(Space::out, position * shape.pitch), shape.bytes);
  if (!is_exchange(shape)) return copy_of(at(Space::in, 0), at(Space::scratch, 0), shape.bytes);
  const std::uint64_t first = which == 1 ? 0 : own + 1;
  const std::uint64_t runs = which == 1 ? own : shape.ranks - 1 - own;
  if (runs == 0) return {};
  Step copy = copy_of({Space::in, first * shape.pitch, shape.pitch},
                      {Space::scratch, first * shape.bytes, shape.bytes}, shape.bytes);
  copy.runs = runs;
  return copy;
}

/// The waits for news: one for each block if blocks are long, else one for all.
std::uint32_t waits(const Shape& shape) noexcept {
  if (!tells(shape)) return 0;
  return all_there(shape).each ? read_peers(shape) : 1;
}

// Copies; the news to all; the gets behind their waits, and their end; the answers; the wait for theirs.
std::uint32_t all_get_length(const Shape& shape, Rank, std::uint32_t) noexcept {
  if (shape.bytes == 0) return 0;
  if (shape.ranks == 1) return 1;
  const std::uint32_t count = read_peers(shape);
  return copies_first(shape) + (tells(shape) ? count : 0) + waits(shape) + count + 1 +
         (answers(shape) ? count + 1 : 0);
}

Step all_get_step(const Shape& shape, Rank position, std::uint32_t, std::uint32_t index) noexcept {
  const std::uint32_t count = read_peers(shape);
  const auto behind = [&](std::uint32_t turn) { return absolute(turn + 1, position, shape.ranks); };
  const ChildCounters there = all_there(shape);
  if (index < copies_first(shape)) return copy_first(shape, position, index);
  index -= copies_first(shape);
  if (tells(shape)) {
    // This member is read from there `index` turns before the last.
    if (index < count) return signal_to(behind(index), there.of(count - 1 - index));
    index -= count;
    if (!there.each && index-- == 0) return wait_only(there.first, count);
    if (there.each && index < 2 * count) {
      if (index % 2 == 0) return wait_only(there.of(index / 2), 1);
      index /= 2;
    } else if (there.each) {
      index -= count;
    }
  }
  if (index < count) {
    return get_from(behind(index), block_at(shape, behind(index), position),
                    at(Space::out, behind(index) * shape.pitch), shape.bytes, kAllGot);
  }
  index -= count;
  if (index == 0) return wait_only(kAllGot, count);
  return index <= count ? signal_to(behind(index - 1), kAllTaken) : wait_only(kAllTaken, count);
}

Cost all_get_cost(const Shape& shape) noexcept {
  return cost_of_reading(shape, std::uint64_t{shape.ranks} * read_peers(shape),
                         tells(shape) + answers(shape));
}

constexpr Algorithm all_get(Operation operation) noexcept {
  return {
      .name = "get",
      .operation = operation,
      .parameters = {},
      .reads = true,
      .refusal = no_refusal,
      .needs = all_get_needs,
      .lanes = one_lane,
      .length = all_get_length,
      .step = all_get_step,
      .cost = all_get_cost,
  };
}

}  // namespace

constinit const Algorithm kAllGatherGet = all_get(Operation::all_gather);
constinit const Algorithm kAllToAllGet = all_get(Operation::all_to_all);

}  // namespace aqueduct::coll
