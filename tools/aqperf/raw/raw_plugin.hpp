#pragma once

#include "tools/aqperf/raw/raw_network.hpp"

#include <string_view>

namespace aqueduct::perf {

/// How the plug-in of this name measures its network bare; null: there is no such plug-in, or it does not.
const core::RawNetworkEntry* raw_entry_of_plugin(std::string_view conduit);

/// The comparator of a conduit that is a plug-in. `entry` is null at ranks without a peer. Collective.
Raw raw_plugin(Session& session, Role role, const NetworkTurn& turn, const core::RawNetworkEntry* entry);

}  // namespace aqueduct::perf
