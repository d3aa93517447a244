#pragma once

// Calls that members of a team make, for tests of what they agree on.

#include "coll/engine/call_description.hpp"
#include "coll/engine/team_agreement.hpp"

#include <gtest/gtest.h>

#include <cstdint>

namespace aqueduct::coll::agreement {

inline CallDescription sum_of(std::uint64_t bytes) {
  CallDescription call;
  call.operation = Collective::all_reduce;
  call.type = ElementType::f64;
  call.element = 8;
  call.bytes = bytes;
  return call;
}
inline CallDescription broadcast_of(std::uint64_t bytes, Rank root = 0) {
  CallDescription call;
  call.operation = Collective::broadcast;
  call.root = root;
  call.bytes = bytes;
  return call;
}
inline CallDescription refused(const CallDescription& call, ErrorCode code = ErrorCode::invalid_argument) {
  return refused_call(call, code);
}
inline CallDescription bind_of(const CallDescription& call) {
  return call_about_plan(call, CallDescription::kBinds);
}
inline CallDescription end_of(const CallDescription& call) {
  return call_about_plan(call, CallDescription::kEnds);
}
/// Makes the same call several times.
inline void call_up_to(TeamAgreement& agreement, std::uint64_t last, const CallDescription& call) {
  for (std::uint64_t i = agreement.made() + 1; i <= last; ++i) ASSERT_TRUE(agreement.calls(i, call).ok());
}

}  // namespace aqueduct::coll::agreement
