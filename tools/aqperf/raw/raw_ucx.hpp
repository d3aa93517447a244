#pragma once

#include "tools/aqperf/raw/raw_network.hpp"

namespace aqueduct::perf {

/// The comparator of the ucx conduit: UCP's own calls over the same transports. Collective.
Raw raw_ucx(Session& session, Role role, const NetworkTurn& turn);

}  // namespace aqueduct::perf
