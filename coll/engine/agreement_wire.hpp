#pragma once

#include "am/wire.hpp"
#include "coll/engine/call_description.hpp"

#include <cstdint>

namespace aqueduct::coll {

/// kCollAbort: the sender has refused this call of the team, or has seen that another member has made another call.
struct AbortedCall {
  std::uint64_t team;
  std::uint64_t number;  ///< of the call: 1, 2, …
  CallDescription call;
};

/// kCollAsk: what is your call of the team with this number? Or your last one, if you have not made it or do not remember it.
struct CallQuestion {
  std::uint64_t team;
  std::uint64_t number;
};

/// kCollTell: the answer. `number` 0: the sender has made no call of the team, or does not have the team.
struct CallAnswer {
  std::uint64_t team;
  std::uint64_t number;
  CallDescription call;
};

static_assert(sizeof(AbortedCall) <= am::kMaxArgs && sizeof(CallAnswer) <= am::kMaxArgs);

}  // namespace aqueduct::coll
