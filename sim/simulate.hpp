#pragma once

#include "coll/model/replay.hpp"
#include "sim/network.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace aqueduct::sim {

/// One simulation: an operation, perhaps several times, on a network.
struct Job {
  const coll::Algorithm* algorithm = nullptr;
  coll::Shape shape;
  std::span<const coll::MemberBlocks>
      blocks;                            ///< of blocks that differ, each member's view; none: all are alike
  std::uint32_t times = 1;               ///< how many calls each member makes
  bool in_flight = false;                ///< all at once; otherwise one after the other
  coll::Picoseconds compute = 0;         ///< between two calls
  std::vector<coll::Picoseconds> calls;  ///< when each member makes its first call; empty: all at 0
  coll::Detours detours;
  coll::Watcher* watcher = nullptr;
  std::uint64_t seed = 1;           ///< of random routes
  std::uint64_t most_messages = 0;  ///< refuses to simulate more one by one; 0: no limit
  std::uint64_t most_memory = 0;    ///< bytes; 0: what is free
  bool one_by_one = false;          ///< with an event for each message, also where a shorter way is as exact
};

/// How a simulation was done.
enum class Method : std::uint8_t {
  one_for_all,  ///< all members are alike, one was followed
  by_rounds,    ///< each step for all members, without events
  events,       ///< each message is an event
};
const char* word_of(Method method) noexcept;

struct Outcome {
  coll::Replayed replayed;
  Method method = Method::events;
  double wall_seconds = 0;
  std::vector<std::uint64_t> link_bytes;  ///< of each link of the topology
  std::uint64_t hops = 0;                 ///< the sum over all messages of the links on their way
};

/// Simulates. Errors: BadInput, if the algorithm cannot do the shape, memory does not hold so many ranks (says how many
/// would fit), or there are more messages than allowed.
Outcome simulate(const Job& job, const Network& network);

/// When each member calls, if the last is `most` later than the first: spread by chance.
std::vector<coll::Picoseconds> late_calls(Rank ranks, coll::Picoseconds most, std::uint64_t seed);

}  // namespace aqueduct::sim
