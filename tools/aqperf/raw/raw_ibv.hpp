#pragma once

#include "tools/aqperf/raw/raw_network.hpp"

namespace aqueduct::perf {

/// The comparator of the ibv conduit: plain verbs on the same port. Collective.
Raw raw_ibv(Session& session, Role role, const NetworkTurn& turn);

}  // namespace aqueduct::perf
