#pragma once

// How wrong collective calls end, and what is left of their team.

#include "tests/conformance/collective.hpp"
#include "tests/conformance/rank_process.hpp"

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <span>

namespace aqueduct::conformance {

inline constexpr std::chrono::seconds kToldWithin{5};

/// How a call ended that may have to be told that it is wrong. An Event that goes on would hang the case.
inline ErrorCode ends_soon(Endpoint& me, Event event) {
  const Status status = me.wait_for(event, kToldWithin);
  if (event.done()) return event.status().code();
  ADD_FAILURE() << "the call goes on: " << status.text();
  std::_Exit(kFailed);  // dropping the Event would be misuse
}

/// A broken team's calls fail on all members, whatever they call.
inline void expect_broken(Endpoint& me, Team& team) {
  std::uint64_t word = 1;
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(ends_soon(me, all_reduce_nb(team, std::span(&word, 1), ReduceOp::sum)), ErrorCode::mismatch);
    EXPECT_EQ(ends_soon(me, broadcast_nb(team, std::span(&word, 1))), ErrorCode::mismatch);
  }
  EXPECT_EQ(all_reduce(team, std::span(&word, 1), ReduceOp::sum).code(), ErrorCode::mismatch);
  EXPECT_EQ(all_reduce_plan(team, std::span(&word, 1), ReduceOp::sum).status().code(), ErrorCode::mismatch);
  EXPECT_EQ(word, 1u);
  // Other teams go on.
  ASSERT_TRUE(all_reduce(me.world(), std::span(&word, 1), ReduceOp::sum));
  EXPECT_EQ(word, me.ranks());
}

}  // namespace aqueduct::conformance
