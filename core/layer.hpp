#pragma once

#include <aqueduct/rank.hpp>

#include <memory>
#include <string>

namespace aqueduct::core {

/// A layer above the conduits, as the endpoint sees it. runtime/layers.cpp lists and builds the layers.
class Layer {
 public:
  virtual ~Layer() = default;

  /// Continues queued work, such as packets that found no room. Called in every progress while any layer is busy
  /// (core::Busy) or watches memory, so also when this one has nothing to do. It must not wait.
  virtual void advance() noexcept {}
  /// A peer is gone: drops what is queued for it. Afterwards the pool ends the operations on that peer.
  virtual void peer_lost(Rank) noexcept {}
  /// Adds to a stall report what this layer has queued, for `peer` or in all (kNoRank).
  virtual void describe(std::string&, Rank) const {}
};

/// Stands for a layer's class: the address differs for each class.
template <class L>
inline constexpr char kLayerClass = 0;

/// A layer of an endpoint, with the address that stands for its class.
struct BuiltLayer {
  const void* layer_class;
  std::unique_ptr<Layer> layer;
};

}  // namespace aqueduct::core
