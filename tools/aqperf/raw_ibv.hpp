#pragma once

#include "tools/aqperf/raw_network.hpp"

namespace aqueduct::perf {

/// What the ibv conduit is compared with: bare verbs on the same port. Collective.
Raw raw_ibv(Session& session, Role role, const NetworkTurn& turn);

}  // namespace aqueduct::perf
