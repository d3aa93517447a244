#pragma once

// How wrong collective calls end, and what is left of their team.

#include "tests/conformance/collective.hpp"
#include "tests/conformance/fabric_test.hpp"
#include "tests/conformance/rank_process.hpp"

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <span>
#include <string>

namespace aqueduct::conformance {

inline constexpr std::chrono::seconds kToldWithin{5};

/// How a call ended that may have to be told that it is wrong. An Event that goes on would hang the case.
inline ErrorCode ends_soon(Endpoint& me, Event event, std::chrono::seconds limit = kToldWithin) {
  const Status status = me.wait_for(event, limit);
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

/// The base of suites of wrong calls. Each case breaks a team of its own: that of all ranks stays whole.
class CollectiveErrorsTest : public FabricTest {
 protected:
  /// Runs `body` on `teams` teams of three members, one after the other. `which` counts them.
  void with_teams(std::size_t teams,
                  const std::function<void(Endpoint& me, Team& team, std::size_t which)>& body) {
    as_each_of(3, 4096, [teams, body](Endpoint& me) {
      for (std::size_t which = 0; which < teams; ++which) {
        SCOPED_TRACE("team " + std::to_string(which));
        auto team = me.world().split(0, me.rank());
        ASSERT_TRUE(team && *team);
        ASSERT_NO_FATAL_FAILURE(body(me, **team, which));
        const Status ended = (*team)->end();
        EXPECT_TRUE(ended) << "a team that is broken can be ended: " << ended.text();
      }
      ASSERT_TRUE(me.barrier());
    });
  }
  /// For calls that differ: runs nothing where members do not find that out.
  void with_mismatches(std::size_t teams,
                       const std::function<void(Endpoint& me, Team& team, std::size_t which)>& body) {
    with_teams(teams, [body](Endpoint& me, Team& team, std::size_t which) {
      if (finds_different_calls(me)) body(me, team, which);
    });
  }
};

}  // namespace aqueduct::conformance
