#pragma once

#include "tools/aqperf/measure/session.hpp"

#include <string>

namespace aqueduct::perf {

/// How close two ranks are: "core" (two threads of one core, or one), "cache" (the last level of cache is common), "domain"
/// (of memory), "host" (also if a rank is not bound to one processor) or "network". The same on all ranks. Collective.
std::string level_between(Session& session, Rank a, Rank b);

/// Whether two ranks are bound to one processor, so that only one of them can run. The same on all ranks. Collective.
bool share_processor(Session& session, Rank a, Rank b);

}  // namespace aqueduct::perf
