#pragma once

#include "core/wait.hpp"

#include <chrono>

namespace aqueduct::core {

/// The first lost rank among those that `from` names: one rank, kAnyRank, or kNoRank for none. kNoRank: none is lost.
Rank first_lost(const EndpointState& state, Rank from) noexcept;

/// Whether `from` may be given to a wait: a rank, kAnyRank or kNoRank.
inline bool is_source(const EndpointState& state, Rank from) noexcept {
  return from < state.ranks || from == kAnyRank || from == kNoRank;
}

/// Waits until `condition()` returns true, for a condition on memory that may change without an arrival.
///
/// Errors: those of wait_until; out_of_range (`from`); peer_lost: a rank of `from` is lost, and the condition was false
///         after that.
template <class Condition, class Describe>
Status wait_for_condition(EndpointState& state, const Condition& condition, Rank from,
                          const Describe& describe, std::chrono::nanoseconds limit) noexcept {
  if (state.in_child()) [[unlikely]]
    return ErrorCode::invalid_argument;
  if (!is_source(state, from)) return ErrorCode::out_of_range;
  Rank gone = kNoRank;
  const auto over = [&] {
    if (condition()) return true;
    if (state.lost_count == 0) [[likely]]
      return false;
    const Rank lost = first_lost(state, from);
    if (lost == kNoRank) return false;
    // The lost rank may have made the condition true between the two checks.
    if (!condition()) gone = lost;
    return true;
  };
  const Status status = wait_until(state, over, from, describe, limit, kMemoryNaps);
  if (status && gone != kNoRank) return {ErrorCode::peer_lost, gone};
  return status;
}

}  // namespace aqueduct::core
