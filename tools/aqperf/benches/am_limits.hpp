#pragma once

#include "tools/aqperf/measure/session.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>

namespace aqueduct::perf {

/// Refuses a payload that exceeds the medium limit to the peer, or any other rank's limit to its own. Collective.
inline void require_medium(Session& session, Rank peer, std::size_t bytes) {
  const auto limit = peer == kNoRank ? SIZE_MAX : am_limits(session.ep(), peer).medium;
  const auto limits = session.exchange(limit);
  const std::size_t most = *std::min_element(limits.begin(), limits.end());
  if (bytes <= most) return;
  throw Failure(
      fmt::format("--bytes: {} is above the largest medium payload here, which is {}; end the range there",
                  bytes, most),
      kUsageError);
}

}  // namespace aqueduct::perf
