// What endpoints say about their networks.

#include <aqueduct/endpoint.hpp>

#include "core/endpoint_state.hpp"
#include "core/entry.hpp"
#include "core/network_profile.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace aqueduct {

namespace core {

NetworkProfile load_profile(Log& log, const std::string& named, const std::string& conduit) {
  std::error_code ignored;
  const bool is_folder = named.back() == '/' || std::filesystem::is_directory(named, ignored);
  const std::string file = is_folder ? profile_file(named, conduit) : named;
  std::ifstream in;
  // Of a pipe or a device a read may never end.
  if (std::filesystem::is_regular_file(file, ignored)) in.open(file, std::ios::binary);
  if (!in.is_open()) {
    // A folder need not have a profile of each conduit.
    constexpr auto kWhy = FMT_STRING(
        "AQUEDUCT_NETWORK_PROFILE: {} cannot be read, so the defaults of conduit {} are used; `aqperf "
        "calibrate --conduit {} --profile {}` writes it");
    is_folder ? log.info(kWhy, file, conduit, conduit, file) : log.warn(kWhy, file, conduit, conduit, file);
    return {};
  }
  constexpr std::size_t kMost = 1 << 20;  // chosen: a profile has some kilobytes
  std::string text(kMost, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(in.gcount()));
  ProfileRead read = read_profile(text, machine_name(), conduit);
  if (!read.problem.empty()) {
    log.warn("AQUEDUCT_NETWORK_PROFILE: {}: {}. The defaults of conduit {} are used", file, read.problem,
             conduit);
  }
  return std::move(read.profile);
}

NetworkModel network_model_of(detail::EndpointState& state, Rank peer) {
  const core::Conduit& conduit = *state.conduit_of[peer];
  if (const auto known = conduit.network_model(peer)) return *known;
  const bool same_host = state.host_of[peer] == state.host_of[state.rank];
  const std::string& name = conduit.properties().name;
  const std::string named = state.config.text("network_profile");
  if (!named.empty()) {
    auto found = state.profiles.find(name);
    if (found == state.profiles.end())
      found = state.profiles.emplace(name, core::load_profile(state.log, named, name)).first;
    if (const NetworkModel* const measured = found->second.between(same_host)) return *measured;
  }
  return core::default_network_model(name, same_host);
}

}  // namespace core

NetworkModel Endpoint::network_model(Rank peer) const {
  const core::Entry entry(*state_);
  if (peer >= state_->ranks || state_->in_child()) return {};
  return core::network_model_of(*state_, peer);
}

}  // namespace aqueduct
