#pragma once

#include "coll/model/loggp.hpp"
#include "coll/schedule/schedule.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace aqueduct::sim {

/// What a member does, as seen from itself: waits, time of its processor, posts.
struct Action {
  enum class Kind : std::uint8_t { wait, work, post, raise };
  Kind kind = Kind::work;
  bool turns = false;                        ///< the peer is mine ^ distance; otherwise mine + distance
  bool either = false;                       ///< both are true of member 0
  coll::Counter counter = coll::kNoCounter;  ///< of a wait, a raise, a post
  coll::Counter done = coll::kNoCounter;
  std::uint32_t until = 0;
  std::uint32_t add = 0;
  Rank distance = 0;
  std::uint64_t bytes = 0;
  coll::Picoseconds length = 0;
};

/// The actions of every member of an operation, if all do the same: found from those of members that are unlike in the ways in
/// which members of these algorithms can be.
std::optional<std::vector<Action>> common_actions(const coll::Algorithm& algorithm, const coll::Shape& shape,
                                                  const coll::Machine& machine);

}  // namespace aqueduct::sim
