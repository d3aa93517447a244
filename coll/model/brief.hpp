#pragma once

#include "coll/schedule/step.hpp"

#include <cstdint>

namespace aqueduct::coll {

/// What a replay needs of a step: no places, since nothing is moved.
struct Brief {
  std::uint64_t bytes = 0;  ///< of one run
  std::uint32_t runs = 1;
  Rank peer = kNoRank;
  std::uint32_t wait_until = 0;
  Counter wait_for = kNoCounter;
  Counter raise = kNoCounter;
  Counter done = kNoCounter;
  std::uint16_t add = 0;
  Step::Kind kind = Step::Kind::nothing;

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

}  // namespace aqueduct::coll
