#pragma once

#include "am/messages.hpp"
#include "coll/barriers.hpp"
#include "core/endpoint_state.hpp"
#include "rma/transfers.hpp"
#include "runtime/segment_parts.hpp"
#include "vis/engine.hpp"

#include <optional>
#include <vector>

namespace aqueduct::runtime {

/// One endpoint, whole: its state and the layers over it, which end before it, the last first.
struct EndpointParts {
  EndpointParts(Rank rank, Rank ranks, const Config& config) : state(rank, ranks, config) {
    state.owner = this;
  }
  ~EndpointParts();

  std::vector<PlainMemory> plain;
  std::uint32_t allocations = 0;  ///< parts of segments allocated so far
  aqueduct::detail::EndpointState state;
  std::optional<am::Messages> messages;
  std::optional<rma::Transfers> transfers;
  std::optional<vis::Engine> vis;
  std::optional<coll::Barriers> barriers;
};

}  // namespace aqueduct::runtime
