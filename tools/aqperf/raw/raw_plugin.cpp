#include "tools/aqperf/raw/raw_plugin.hpp"

#include "conduits/registry.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <utility>

#include <dlfcn.h>

namespace aqueduct::perf {
namespace {

const conduits::Available* plugin_called(std::string_view conduit) {
  for (const conduits::Available* known : conduits::known_by_path()) {
    if (known->entry != nullptr && known->name == conduit) return known;
  }
  const conduits::Available* const found = conduits::find(conduit);
  return found != nullptr && found->entry != nullptr && !found->file.empty() ? found : nullptr;
}

/// An address as Session::exchange carries it.
struct RawAddress {
  std::uint64_t bytes = 0;
  std::array<std::byte, core::RawNetwork::kMostAddress> address{};
};

/// This rank's side, with what it refers to.
struct PluginSide {
  PluginSide(Session& session, Role role, const NetworkTurn& turn, const core::RawNetworkEntry* entry)
      : config(Config::from_environment()), log(config, session.rank()) {
    if (entry == nullptr) return;
    auto made = entry->make({&config, &log, session.rank(), role.peer, role.active, turn});
    if (made) network = *std::move(made);
  }

  Config config;
  core::Log log;
  std::unique_ptr<core::RawNetwork> network;
};

/// Exchanges addresses with the peer; whether this rank is connected.
bool meet(Session& session, Role role, PluginSide& side) {
  RawAddress mine;
  if (side.network != nullptr) {
    const std::vector<std::byte> address = side.network->address();
    if (address.size() > mine.address.size()) {
      side.log.error("aqperf: the plug-in's raw network has an address of {} bytes; {} are possible",
                     address.size(), mine.address.size());
      side.network.reset();
    } else {
      mine.bytes = address.size();
      std::ranges::copy(address, mine.address.begin());
    }
  }
  const auto addresses = session.exchange(mine);
  if (!session.everyone(role.peer == kNoRank || side.network != nullptr)) return false;
  if (role.peer == kNoRank) return true;
  const RawAddress& peer = addresses[role.peer];
  return side.network->connect(std::span(peer.address).first(peer.bytes)).ok();
}

}  // namespace

const core::RawNetworkEntry* raw_entry_of_plugin(std::string_view conduit) {
  const conduits::Available* const plugin = plugin_called(conduit);
  if (plugin == nullptr) return nullptr;
  void* const handle =
      ::dlopen(plugin->file.c_str(), RTLD_NOW | RTLD_NOLOAD);  // it has been loaded, for good
  if (handle == nullptr) return nullptr;
  const auto get = reinterpret_cast<core::RawNetworkFunction>(::dlsym(handle, core::kRawNetworkSymbol));
  const core::RawNetworkEntry* const entry = get != nullptr ? get() : nullptr;
  ::dlclose(handle);
  return entry != nullptr && entry->interface_version == core::kConduitInterface ? entry : nullptr;
}

Raw raw_plugin(Session& session, Role role, const NetworkTurn& turn, const core::RawNetworkEntry* entry) {
  const auto side = std::make_shared<PluginSide>(session, role, turn, entry);
  if (!session.everyone(meet(session, role, *side))) {
    return {std::nullopt, "none: the plug-in does not measure its bare network so"};
  }
  const std::uint64_t at_once = turns_at_once(turn);
  const auto run = [side, at_once](std::uint64_t turns) {
    if (side->network != nullptr) side->network->run(turns * at_once);
  };
  const std::string what = side->network != nullptr ? side->network->describe() : std::string();
  return {Subject{run, role.active, static_cast<double>(turn.window * at_once)}, what};
}

}  // namespace aqueduct::perf
