#pragma once

#include "tools/aqperf/measure/sampler.hpp"
#include "tools/aqperf/raw/raw_cma.hpp"
#include "tools/aqperf/raw/raw_memory.hpp"

#include <memory>

namespace aqueduct::perf {

enum class Direction : std::uint8_t { put, get };

/// The comparator of one-sided transfers of `bytes` bytes between this rank's buffer and the peer's target memory:
/// the same copy through a pointer if the memory is mapped here, else the kernel's process_vm call. Collective.
///
/// 8 bytes are one aligned store or load.
Raw raw_transfer(Session& session, Role role, Direction direction, std::size_t bytes);

}  // namespace aqueduct::perf
