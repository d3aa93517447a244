#pragma once

#include <aqueduct/rank.hpp>

#include <string>

namespace aqueduct::core {

/// A layer above the conduits that may have work of its own to go on with when there is progress.
class Layer {
 public:
  /// Goes on with what waited for room. Called while EndpointState::busy is not 0.
  virtual void advance() noexcept {}
  /// A peer is gone: drops what was on its way there. Operations of the pool are failed afterwards.
  virtual void peer_lost(Rank) noexcept {}
  /// Adds to a stall report what a person would want to know of this layer and `peer` (or kNoRank).
  virtual void describe(std::string&, Rank) const {}

 protected:
  ~Layer() = default;
};

}  // namespace aqueduct::core
