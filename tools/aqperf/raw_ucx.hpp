#pragma once

#include "tools/aqperf/raw_network.hpp"

namespace aqueduct::perf {

/// What the ucx conduit is compared with: UCP's own calls over the same transports. Collective.
Raw raw_ucx(Session& session, Role role, const NetworkTurn& turn);

}  // namespace aqueduct::perf
