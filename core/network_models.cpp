// What endpoints say about their networks.

#include <aqueduct/endpoint.hpp>

#include "core/endpoint_state.hpp"
#include "core/entry.hpp"
#include "core/network_profile.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

namespace aqueduct {

namespace core {

namespace {

/// What a file says; empty: it cannot be opened.
std::optional<ProfileRead> read_file(const std::string& file, const std::string& conduit,
                                     std::string_view network) {
  std::error_code ignored;
  std::ifstream in;
  // Of a pipe or a device a read may never end.
  if (std::filesystem::is_regular_file(file, ignored)) in.open(file, std::ios::binary);
  if (!in.is_open()) return std::nullopt;
  constexpr std::size_t kMost = 1 << 20;  // chosen: a profile has some kilobytes
  std::string text(kMost, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(in.gcount()));
  return read_profile(text, machine_name(), conduit, network);
}

}  // namespace

NetworkProfile load_profile(Log& log, const std::string& named, const std::string& conduit,
                            std::string_view network) {
  const bool is_folder = is_profile_folder(named);
  std::vector<std::string> files{named};
  if (is_folder) files = {profile_file(named, conduit, true), profile_file(named, conduit, false)};
  NetworkProfile profile;
  bool found = false;
  for (const std::string& file : files) {
    const auto read = read_file(file, conduit, network);
    if (!read) continue;
    found = true;
    if (!read->problem.empty())
      log.warn("AQUEDUCT_NETWORK_PROFILE: {}: {}. The defaults of conduit {} are used", file, read->problem,
               conduit);
    for (const auto& level : read->profile.levels) profile.levels.push_back(level);
    for (const auto& level : read->profile.of_others) profile.of_others.push_back(level);
    if (!read->profile.other_network.empty()) profile.other_network = read->profile.other_network;
  }
  if (found) return profile;
  // A folder need not have a profile of each conduit.
  constexpr auto kWhy = FMT_STRING(
      "AQUEDUCT_NETWORK_PROFILE: {} {}, so the defaults of conduit {} are used; `aqperf calibrate --conduit "
      "{} "
      "--profile {}` writes it");
  if (is_folder)
    log.info(kWhy, named, "has no profile of this machine", conduit, conduit, named);
  else
    log.warn(kWhy, named, "cannot be read", conduit, conduit, named);
  return profile;
}

NetworkModel network_model_of(detail::EndpointState& state, Rank peer) {
  const core::Conduit& conduit = *state.conduit_of[peer];
  if (const auto known = conduit.network_model(peer)) return *known;
  const bool same_host = state.host_of[peer] == state.host_of[state.rank];
  const std::string& name = conduit.properties().name;
  const std::string& network = conduit.properties().network;
  const std::string named = state.config.text("network_profile");
  if (!named.empty()) {
    auto found = state.profiles.find(name);
    if (found == state.profiles.end())
      found = state.profiles.emplace(name, core::load_profile(state.log, named, name, network)).first;
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
