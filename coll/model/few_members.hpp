#pragma once

#include "coll/schedule/schedule.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

namespace aqueduct::coll {

/// Whether such a step is among the first `most` own ones of a few members: the first two, one in the middle, the last.
template <class Such>
bool few_have(const TeamSchedule& schedule, std::uint32_t most, const Such& such) noexcept {
  const Rank ranks = schedule.shape().ranks;
  for (const Rank member : std::array<Rank, 4>{0, std::min(1U, ranks - 1), ranks / 2, ranks - 1}) {
    for (std::uint32_t lane = 0; lane < schedule.lanes(member); ++lane) {
      const TeamSchedule::Lengths lengths = schedule.lengths(member, lane);
      const std::uint32_t first = lane == 0 ? lengths.before : 0;
      for (std::uint32_t i = first; i < lengths.all && i - first < most; ++i) {
        if (such(schedule.brief(member, lane, i, lengths))) return true;
      }
    }
  }
  return false;
}

}  // namespace aqueduct::coll
