#pragma once

#include "tools/aqperf/measure/sampler.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>

namespace aqueduct::perf {

/// What two ranks do in one turn, described so that a network's library can do the same without Aqueduct.
struct NetworkTurn {
  enum class Kind : std::uint8_t {
    put,     ///< puts, and a wait until their bytes are in the target's memory
    get,     ///< gets, and a wait for them
    answer,  ///< a message there, a message back
    atomic   ///< fetch-and-adds of 8 bytes, one after the other, on networks that have them
  };
  Kind kind = Kind::put;
  std::size_t bytes = 0;
  std::size_t window = 1;  ///< puts or gets in flight at a time
};

/// How many turns are measured as one. A run of puts or gets ends with a message to the passive side,
/// which is then less than 1 % of the transfers.
std::uint64_t turns_at_once(const NetworkTurn& turn);

/// The comparator of a conduit on a network's library: that library's own calls, on the same network and with the
/// same meaning of completion. Nothing for other conduits. Collective.
std::optional<Raw> raw_network(Session& session, Role role, const NetworkTurn& turn);

}  // namespace aqueduct::perf
