#pragma once

#include "coll/schedule/passes.hpp"
#include "coll/schedule/step.hpp"

#include <bit>
#include <cstdint>

namespace aqueduct::coll {

/// What a replay needs of a step: no places, since nothing is moved. A quarter of the bytes.
struct Brief {
  std::uint64_t bytes = 0;  ///< of one run
  std::uint32_t runs = 1;
  Rank peer = kNoRank;
  std::uint32_t wait_until = 0;
  Counter wait_for = kNoCounter;
  Counter raise = kNoCounter;
  Counter done = kNoCounter;
  std::uint16_t add = 1;
  Step::Kind kind = Step::Kind::nothing;

  friend bool operator==(const Brief&, const Brief&) = default;
  std::uint64_t all_bytes() const noexcept { return kind == Step::Kind::signal ? 0 : bytes * runs; }
};

inline Brief brief_of(const Step& step) noexcept {
  return {.bytes = step.bytes,
          .runs = static_cast<std::uint32_t>(step.runs),
          .peer = step.peer,
          .wait_until = step.wait_until,
          .wait_for = step.wait_for,
          .raise = step.raise,
          .done = step.done,
          .add = step.add,
          .kind = step.kind};
}

/// brief_of(pass.step(position, index)). Most steps of large teams are of such passes, so these are done without a Step.
/// Requires: pass.is_plain().
inline Brief brief_of_round(const Pass& pass, Rank position, std::uint32_t index) noexcept {
  const auto rounds = static_cast<std::uint32_t>(std::bit_width(pass.ranks - 1));
  Brief out;
  if (index < rounds) {
    const std::uint64_t peer = position + (std::uint64_t{1} << index);
    out.kind = Step::Kind::signal;
    out.peer = static_cast<Rank>(peer < pass.ranks ? peer : peer - pass.ranks);
    out.raise = static_cast<Counter>(pass.first + index);
  }
  if (index > 0) {
    out.wait_for = static_cast<Counter>(pass.first + index - 1);
    out.wait_until = 1;
  }
  return out;
}

}  // namespace aqueduct::coll
