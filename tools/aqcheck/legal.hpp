#pragma once

#include "coll/schedule/schedule.hpp"

#include <cstdint>
#include <string>

namespace aqueduct::aqcheck {

inline bool is_message(const coll::Step& step) noexcept {
  return step.kind == coll::Step::Kind::put || step.kind == coll::Step::Kind::get ||
         step.kind == coll::Step::Kind::signal;
}
inline bool is_user(coll::Space space) noexcept {
  return space == coll::Space::in || space == coll::Space::out;
}

/// The most that an operation may add to one counter. The engine's counters count in their lower 16 bits; the others are the
/// mark of the call.
inline constexpr std::uint64_t kMostArrivals = 0xffff;
/// What is wrong if more is added.
std::string overflow_text(std::uint64_t member, std::uint64_t counter, std::uint64_t total);

/// What is wrong with a step of the member at `position`, seen by itself; null if nothing is.
const char* illegal(const coll::Shape& shape, const coll::Needs& needs, Rank position,
                    const coll::Step& step) noexcept;

}  // namespace aqueduct::aqcheck
