#pragma once

#include "coll/model/loggp.hpp"
#include "coll/schedule/schedule.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace aqueduct::coll {

/// What a member does, as seen from itself: waits, time of its processor, posts.
struct Action {
  enum class Kind : std::uint8_t { wait, work, post, raise };
  Kind kind = Kind::work;
  bool turns = false;            ///< the peer is mine ^ distance; otherwise mine + distance
  bool either = false;           ///< both are true of member 0
  Counter counter = kNoCounter;  ///< of a wait, a raise, a post
  Counter done = kNoCounter;
  std::uint32_t until = 0;
  std::uint32_t add = 0;
  Rank distance = 0;
  std::uint64_t bytes = 0;
  Picoseconds length = 0;
};

/// The actions of every member of an operation, if all do the same: found from those of members that are unlike in the ways in
/// which members of these algorithms can be.
std::optional<std::vector<Action>> common_actions(const Algorithm& algorithm, const Shape& shape,
                                                  const Machine& machine);

}  // namespace aqueduct::coll
