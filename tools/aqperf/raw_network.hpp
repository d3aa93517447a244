#pragma once

#include "tools/aqperf/sampler.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>

namespace aqueduct::perf {

/// What two ranks do in one turn, for a network's library to do the same without this one.
struct NetworkTurn {
  enum class Kind : std::uint8_t {
    put,     ///< puts, and a wait until their bytes are in the target's memory
    get,     ///< gets, and a wait for them
    answer,  ///< a message there, a message back
    atomic   ///< fetch-and-adds of 8 bytes, one by one: where a network has them
  };
  Kind kind = Kind::put;
  std::size_t bytes = 0;
  std::size_t window = 1;  ///< puts or gets that are under way together
};

/// So many turns are measured as one, since a run of puts or gets ends with a message to the passive side: it is then
/// less than 1 % of them.
std::uint64_t turns_at_once(const NetworkTurn& turn);

/// The comparator of a conduit that stands on a network's library: that library's own calls, on the same network, with
/// the same meaning of completion. Nothing for other conduits. Collective.
std::optional<Raw> raw_network(Session& session, Role role, const NetworkTurn& turn);

}  // namespace aqueduct::perf
