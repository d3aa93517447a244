#pragma once

#include <aqueduct/aqueduct.hpp>

#include <gtest/gtest.h>

#include <csignal>

namespace aqueduct::conformance {

/// Kills this process if it is the victim, once all other ranks have called this: what a rank sends just before it dies
/// may be lost with it.
inline void die_if(Endpoint& me, Rank victim) {
  constexpr SignalSlot kSlot = 30;
  if (me.rank() != victim) {
    static_cast<void>(signal(me, victim, {kSlot, 1}));  // the victim may die before it has answered
    return;
  }
  ASSERT_TRUE(wait_until(me, kSlot, me.ranks() - 1, kAnyRank, std::chrono::seconds(10)));
  std::raise(SIGKILL);
}

}  // namespace aqueduct::conformance
