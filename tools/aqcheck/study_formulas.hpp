#pragma once

#include "tools/aqcheck/study.hpp"

#include <algorithm>
#include <cstdint>

namespace aqueduct::aqcheck {

// What formulas of several operations count with: P members, radix k, blocks of m bytes, s segments; lg is ceil(log2 P).

inline std::uint64_t power(std::uint64_t base, std::uint32_t exponent) noexcept {
  std::uint64_t out = 1;
  while (exponent-- > 0) out *= base;
  return out;
}
/// ceil(log_k P)
inline std::uint32_t log_up(std::uint64_t members, std::uint64_t radix) noexcept {
  std::uint32_t rounds = 0;
  while (power(radix, rounds) < members) ++rounds;
  return rounds;
}
/// floor(log_k P)
inline std::uint32_t log_down(std::uint64_t members, std::uint64_t radix) noexcept {
  std::uint32_t rounds = 0;
  while (power(radix, rounds + 1) <= members) ++rounds;
  return rounds;
}
inline std::uint32_t lg(const coll::Shape& shape) noexcept { return log_up(shape.ranks, 2); }
inline bool is_power(const coll::Shape& shape, std::uint64_t radix) noexcept {
  return power(radix, log_up(shape.ranks, radix)) == shape.ranks;
}
/// A position's depth in the k-nomial tree: its digits that are not 0.
inline std::uint32_t digits(std::uint64_t position, std::uint64_t radix) noexcept {
  std::uint32_t count = 0;
  for (; position > 0; position /= radix) count += position % radix != 0 ? 1 : 0;
  return count;
}
inline std::uint32_t deepest(const coll::Shape& shape, std::uint64_t radix) noexcept {
  std::uint32_t most = 0;
  for (Rank i = 0; i < shape.ranks; ++i) most = std::max(most, digits(i, radix));
  return most;
}
/// The farthest member of a mesh whose rows and planes are given: its three coordinates, added up.
inline std::uint32_t deepest_of_mesh(const coll::Shape& shape) noexcept {
  const std::uint64_t row = shape.parameters[0];
  const std::uint64_t rows = shape.parameters[1];
  std::uint64_t most = 0;
  for (Rank i = 0; i < shape.ranks; ++i) most = std::max(most, i % row + i / row % rows + i / row / rows);
  return static_cast<std::uint32_t>(most);
}
/// The edges between the root and all others, added up.
inline std::uint64_t all_edges(const coll::Shape& shape, std::uint64_t radix) noexcept {
  std::uint64_t sum = 0;
  for (Rank i = 0; i < shape.ranks; ++i) sum += digits(i, radix);
  return sum;
}
inline std::uint64_t others(const coll::Shape& shape) noexcept { return shape.ranks - 1; }
inline std::uint64_t pairs(const coll::Shape& shape) noexcept { return shape.ranks * others(shape); }
/// The segments of a block: as long as each other but for the last, none empty, at most `wanted`.
inline std::uint64_t segments(const coll::Shape& shape, std::uint64_t wanted) noexcept {
  const std::uint64_t elements = shape.bytes / shape.element;
  const std::uint64_t most = std::min(wanted, elements);
  const std::uint64_t each = (elements + most - 1) / most;
  return (elements + each - 1) / each;
}
/// Direct access with Sync::mine: a signal for each edge says that the peer has called, before the data. Without addresses
/// it also says where the data are to go, in 16 bytes, whatever the mode.
inline Studied with_readiness(const coll::Shape& shape, Studied out) {
  const bool announced = shape.addresses == coll::Addresses::local;
  if (shape.in != coll::Sync::mine && !announced) return out;
  if (announced) out.bytes += 16 * out.messages;
  out.messages *= 2;
  out.depth += 1;
  out.less_depth |= announced;  // an announcement may travel beside the pass
  return out;
}
inline bool in_team_order(const coll::Shape& shape) noexcept {
  return !shape.commutative || shape.order == coll::Order::exact;
}
/// Whether who has been read from is told: not where buffers stay until all have left, or where a pass follows.
inline bool is_answered(const coll::Shape& shape) {
  const bool local = shape.addresses == coll::Addresses::local;
  return shape.out == coll::Sync::mine || (local && shape.out == coll::Sync::none);
}

// Messages between members, one for each block or a round of them.

/// The root with each other member.
inline Studied to_each_other(const coll::Shape& shape) {
  return {.messages = others(shape), .bytes = others(shape) * shape.bytes, .depth = 1};
}
inline Studied to_everybody(const coll::Shape& shape) {
  return {.messages = pairs(shape), .bytes = pairs(shape) * shape.bytes, .depth = 1};
}
inline Studied in_rounds(const coll::Shape& shape, std::uint32_t rounds) {
  return {
      .messages = std::uint64_t{shape.ranks} * rounds, .bytes = pairs(shape) * shape.bytes, .depth = rounds};
}
inline Studied logarithmic(const coll::Shape& shape) { return in_rounds(shape, lg(shape)); }
inline Studied one_by_one(const coll::Shape& shape) { return in_rounds(shape, shape.ranks - 1); }
inline Studied by_windows(const coll::Shape& shape) {
  Studied out = one_by_one(shape);
  out.depth = static_cast<std::uint32_t>((others(shape) - 1) / shape.parameters[0] + 1);
  return out;
}

// Why counts differ from the study's, in more than one row.

inline constexpr const char* kSame = "";
inline constexpr const char* kShallow =
    "the study has ceil(log_k P) for the depth; a position below P may have no digit 0 only if P is large "
    "enough";
inline constexpr const char* kReadiness =
    "with Sync::mine, or without addresses, a message for each edge says first that the peer has called, and "
    "where";

}  // namespace aqueduct::aqcheck
