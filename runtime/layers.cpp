#include "runtime/layers.hpp"

#include "am/am_settings.hpp"
#include "core/core_settings.hpp"
#include "rma/long.hpp"
#include "rma/rma_settings.hpp"
#include "runtime/job_settings.hpp"
#include "runtime/parts.hpp"
#include "vis/vis_settings.hpp"

#include <memory>
#include <span>

namespace aqueduct::runtime {
namespace {

/// Builds a layer and adds it to the endpoint: progress and losses reach it, and other layers find it by `found`.
template <class L>
void add_layer(aqueduct::detail::EndpointState& state, std::optional<L>& layer, L*& found) {
  found = &layer.emplace(state);
  state.layers.push_back(found);
}

}  // namespace

std::vector<SettingInfo> layer_settings() {
  std::vector<SettingInfo> all;
  for (const std::span<const SettingInfo> table :
       {job_settings(), core::core_settings(), am::am_settings(), rma::rma_settings(), vis::vis_settings()}) {
    all.insert(all.end(), table.begin(), table.end());
  }
  return all;
}

Status build_layers(EndpointParts& parts) {
  aqueduct::detail::EndpointState& state = parts.state;
  add_layer(state, parts.messages, state.messages);
  state.inbox = state.messages;
  add_layer(state, parts.transfers, state.transfers);
  rma::add_long_requests(state);
  add_layer(state, parts.vis, state.vis);
  add_layer(state, parts.barriers, state.barriers);
  state.world = std::make_unique<Team>(
      std::make_unique<aqueduct::detail::TeamState>(state, 0, team::RankMap::world(state.ranks)));
  return parts.messages->layers_problem();
}

void end_layers(EndpointParts& parts) noexcept {
  parts.state.world.reset();  // its destructor uses the barriers
  parts.state.layers.clear();
  parts.barriers.reset();
  parts.vis.reset();
  parts.transfers.reset();
  parts.messages.reset();
}

}  // namespace aqueduct::runtime
