#pragma once

#include "tools/aqperf/raw_cma.hpp"
#include "tools/aqperf/raw_memory.hpp"
#include "tools/aqperf/sampler.hpp"

#include <memory>

namespace aqueduct::perf {

enum class Direction : std::uint8_t { put, get };

/// The comparator of one-sided transfers of `bytes` bytes between this rank's buffer and the peer's target
/// memory: the same copy through a pointer where one reaches it from here, else the system's cross-memory
/// call. Collective.
///
/// 8 bytes are one store or load, aligned.
Raw raw_transfer(Session& session, Role role, Direction direction, std::size_t bytes);

}  // namespace aqueduct::perf
