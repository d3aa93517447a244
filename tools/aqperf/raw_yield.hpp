#pragma once

#include "tools/aqperf/sampler.hpp"

namespace aqueduct::perf {

/// A token that goes round all ranks, each of which yields its core until it has it: what one hop costs when
/// there are more ranks than cores. Collective; no subject where the token's memory is not mapped at every
/// rank.
Raw raw_yield(Session& session);

}  // namespace aqueduct::perf
