#pragma once

#include <aqueduct/config.hpp>
#include <aqueduct/status.hpp>

#include "core/endpoint_state.hpp"

#include <memory>
#include <utility>
#include <vector>

namespace aqueduct::runtime {

// runtime/layers.cpp is the only file that knows all layers. A new layer is one line in its list `Layers`;
// docs/architecture.md has an example.

/// The settings of the job, of core and of the layers, in the order in which aqinfo shows them.
std::vector<SettingInfo> layer_settings();
/// Builds the layers of an endpoint, the lower ones first: a layer finds those below it. Then makes the team of all
/// ranks. Requires: the conduits are connected.
/// Errors: internal (two layers use the same handler number).
Status build_layers(aqueduct::detail::EndpointState& state);
/// Ends the team of all ranks, then the layers, the upper ones first.
void end_layers(aqueduct::detail::EndpointState& state) noexcept;

/// Builds one layer over those that there are: progress and losses reach it from now on, and EndpointState::layer
/// finds it. For build_layers, and for tests with a layer of their own.
template <class L>
L& add_layer(aqueduct::detail::EndpointState& state) {
  auto layer = std::make_unique<L>(state);
  L& built = *layer;
  state.layers.push_back({&core::kLayerClass<L>, std::move(layer)});
  return built;
}

}  // namespace aqueduct::runtime
