#include "runtime/layers.hpp"

#include "am/messages.hpp"
#include "coll/barriers.hpp"
#include "coll/engine/collectives.hpp"
#include "coll/tune/coll_settings.hpp"
#include "coll/tune/tree_setting.hpp"
#include "coll/tune/tuning_settings.hpp"
#include "core/core_settings.hpp"
#include "rma/long.hpp"
#include "rma/transfers.hpp"
#include "runtime/job_settings.hpp"
#include "topology/host_topology.hpp"
#include "vis/piece_transfers.hpp"

#include <span>

namespace aqueduct::runtime {
namespace {

using aqueduct::detail::EndpointState;

template <class... L>
struct LayerList {};

/// The layers, in building order: a layer uses those before it.
using Layers = LayerList<am::Messages,            //
                         rma::Transfers,          //
                         rma::LongRequests,       //
                         vis::PieceTransfers,     //
                         topology::HostTopology,  //
                         coll::Barriers,          //
                         coll::Collectives>;

// Core points to the layers that the hot path uses. A new layer needs no such pointer: EndpointState::layer finds it.
void point_to(EndpointState& state, am::Messages& layer) noexcept {
  state.messages = &layer;
  state.inbox = &layer;
}
void point_to(EndpointState& state, rma::Transfers& layer) noexcept { state.transfers = &layer; }
void point_to(EndpointState& state, vis::PieceTransfers& layer) noexcept { state.vis = &layer; }
void point_to(EndpointState& state, coll::Barriers& layer) noexcept { state.barriers = &layer; }
[[maybe_unused]] void point_to(EndpointState&, core::Layer&) noexcept {}

template <class... L>
void build_all(EndpointState& state, LayerList<L...>) {
  (point_to(state, add_layer<L>(state)), ...);
}

/// The settings of a layer; a layer without a function `settings` has none.
template <class L>
std::span<const SettingInfo> settings_of() noexcept {
  if constexpr (requires { L::settings(); }) return L::settings();
  return {};
}

template <class... L>
std::vector<std::span<const SettingInfo>> tables_of(LayerList<L...>) {
  return {job_settings(),        core::core_settings(),  settings_of<L>()..., coll::algorithm_settings(),
          coll::tree_settings(), coll::tuning_settings()};
}

}  // namespace

std::vector<SettingInfo> layer_settings() {
  std::vector<SettingInfo> all;
  for (const auto table : tables_of(Layers())) all.insert(all.end(), table.begin(), table.end());
  return all;
}

Status build_layers(EndpointState& state) {
  build_all(state, Layers());
  state.layer<coll::Collectives>()->know_of(state.barriers->exchanges());
  if (const Status status = state.layer<topology::HostTopology>()->check(); !status) return status;
  state.world = std::make_unique<Team>(
      std::make_unique<aqueduct::detail::TeamState>(state, 0, team::RankMap::world(state.ranks)));
  state.layer<coll::Collectives>()->enter(state.world->state(), coll::world_offers(state));
  return state.messages->layers_problem();
}

void end_layers(EndpointState& state) noexcept {
  state.world.reset();  // its destructor uses layers
  while (!state.layers.empty()) state.layers.pop_back();
}

}  // namespace aqueduct::runtime
