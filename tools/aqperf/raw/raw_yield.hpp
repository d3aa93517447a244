#pragma once

#include "tools/aqperf/measure/sampler.hpp"

namespace aqueduct::perf {

/// A token that goes round all ranks, each of which yields its core until the token comes: the cost of one hop when
/// there are more ranks than cores. Collective; no subject unless the token's memory is mapped at every rank.
Raw raw_yield(Session& session);

}  // namespace aqueduct::perf
