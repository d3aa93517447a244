#pragma once

#include "coll/schedule/parts.hpp"
#include "coll/schedule/schedule.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>

namespace aqueduct::coll {

// What the algorithms share: steps by name, and blocks cut into segments.

inline Place at(Space space, std::uint64_t offset) noexcept { return {space, offset, 0}; }

/// The same step, but it begins when the counter is at least `value`.
inline Step after(Step step, Counter counter, std::uint32_t value) noexcept {
  step.wait_for = counter;
  step.wait_until = value;
  return step;
}
inline Step wait_only(Counter counter, std::uint32_t value) noexcept { return after({}, counter, value); }

inline Step signal_to(Rank peer, Counter raise) noexcept {
  Step step;
  step.kind = Step::Kind::signal;
  step.peer = peer;
  step.raise = raise;
  return step;
}
inline Step put_to(Rank peer, Place from, Place to, std::uint64_t bytes, Counter raise) noexcept {
  Step step;
  step.kind = Step::Kind::put;
  step.peer = peer;
  step.from = from;
  step.to = to;
  step.bytes = bytes;
  step.raise = raise;
  return step;
}
inline Step copy_of(Place from, Place to, std::uint64_t bytes) noexcept {
  Step step;
  step.kind = Step::Kind::copy;
  step.from = from;
  step.to = to;
  step.bytes = bytes;
  return step;
}
/// to = left ∘ right
inline Step reduction(Place left, Place right, Place to, std::uint64_t bytes) noexcept {
  Step step;
  step.kind = Step::Kind::reduce;
  step.from = left;
  step.with = right;
  step.to = to;
  step.bytes = bytes;
  return step;
}

/// Algorithm::brief of an algorithm's step function. All in one function, so that the compiler leaves out the places, which
/// are most of a step.
template <auto step>
[[gnu::flatten]] Brief brief_by(const Shape& shape, Rank position, std::uint32_t lane,
                                std::uint32_t index) noexcept {
  return brief_of(step(shape, position, lane, index));
}
/// Noted::brief likewise.
template <auto step>
[[gnu::flatten]] Brief noted_brief_by(const Shape& shape, std::span<const std::int8_t> notes, Rank position,
                                      std::uint32_t lane, std::uint32_t index) noexcept {
  return brief_of(step(shape, notes, position, lane, index));
}

/// a / b. Who follows all members computes it for each of their steps, and b is nearly always a power of two.
constexpr std::uint64_t quotient(std::uint64_t a, std::uint64_t b) noexcept {
  // Without std::has_single_bit, which counts bits: a call of a function where processors of any age are meant.
  return (b & (b - 1)) == 0 ? a >> std::countr_zero(b) : a / b;
}

/// A block cut into at most `wanted` segments of whole elements. An empty block has none.
struct Segments {
  std::uint64_t bytes = 0;  ///< of the block
  std::uint64_t each = 0;   ///< of a segment; the last may be shorter
  std::uint32_t count = 0;

  Segments(std::uint64_t block, std::uint32_t element, std::uint32_t wanted) noexcept : bytes(block) {
    const std::uint64_t elements = quotient(block, element);
    if (elements == 0) return;
    const std::uint64_t most = std::min<std::uint64_t>(std::max<std::uint32_t>(wanted, 1), elements);
    each = quotient(elements + most - 1, most) * element;
    count = static_cast<std::uint32_t>(each * most == block ? most : (block + each - 1) / each);
  }
  std::uint64_t begin(std::uint32_t segment) const noexcept { return segment * each; }
  std::uint64_t size(std::uint32_t segment) const noexcept { return std::min(each, bytes - begin(segment)); }
};

/// Whether members tell the peers that write into their outputs where these are.
inline bool announces(const Shape& shape) noexcept { return shape.addresses == Addresses::announced; }
/// Whether a member whose buffers peers touch must first tell them that it has called.
inline bool asks(const Shape& shape) noexcept { return shape.in == Sync::mine || announces(shape); }

inline const char* no_refusal(const Shape&) noexcept { return nullptr; }
inline std::uint32_t one_lane(const Shape&, Rank) noexcept { return 1; }

}  // namespace aqueduct::coll
