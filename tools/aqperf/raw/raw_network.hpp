#pragma once

#include "core/raw_network.hpp"
#include "tools/aqperf/measure/sampler.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>

namespace aqueduct::perf {

/// What two ranks do in one turn, described so that a network's library can do the same without Aqueduct.
using NetworkTurn = core::RawTurn;

/// How many turns are measured as one. A run of puts or gets ends with a message to the passive side,
/// which is then less than 1 % of the transfers.
std::uint64_t turns_at_once(const NetworkTurn& turn);

/// The comparator of a conduit on a network's library: that library's own calls, on the same network and with the
/// same meaning of completion. A plug-in brings its own (core/raw_network.hpp). Nothing for other conduits. Collective.
std::optional<Raw> raw_network(Session& session, Role role, const NetworkTurn& turn);

}  // namespace aqueduct::perf
