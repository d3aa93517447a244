#pragma once

#include "core/endpoint_state.hpp"
#include "runtime/segment_parts.hpp"

#include <vector>

namespace aqueduct::runtime {

/// One endpoint, whole: its state, with its layers, and what runtime knows of its memory.
struct EndpointParts {
  EndpointParts(Rank rank, Rank ranks, const Config& config) : state(rank, ranks, config) {
    state.owner = this;
  }
  ~EndpointParts();

  std::vector<PlainMemory> plain;
  std::uint32_t allocations = 0;  ///< parts of segments allocated so far
  aqueduct::detail::EndpointState state;
};

}  // namespace aqueduct::runtime
