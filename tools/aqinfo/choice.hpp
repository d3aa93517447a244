#pragma once

#include "tools/aqinfo/facts.hpp"

#include <span>

namespace aqueduct::aqinfo {

/// The conduit between ranks of this host, and the one to ranks of other hosts, as the runtime chooses them.
Choice choose_near(const Config& config, std::span<const ConduitFacts> conduits);
Choice choose_far(const Config& config, std::span<const ConduitFacts> conduits);

}  // namespace aqueduct::aqinfo
