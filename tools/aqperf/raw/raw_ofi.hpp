#pragma once

#include "tools/aqperf/raw/raw_network.hpp"

namespace aqueduct::perf {

/// The comparator of the ofi conduit: libfabric's own calls on the same provider. Collective.
Raw raw_ofi(Session& session, Role role, const NetworkTurn& turn);

}  // namespace aqueduct::perf
