#pragma once

#include "coll/model/loggp.hpp"
#include "sim/hosts.hpp"
#include "sim/shared_links.hpp"

#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace aqueduct::sim {

/// What the user has given cannot be used; says what, and what to try.
struct BadInput : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// What a simulation runs on: LogGP between ranks, and perhaps links that messages share.
struct Network {
  std::string name;
  coll::Machine machine;
  std::unique_ptr<Topology> topology;  ///< null: no links are shared
  LinkSpeed of_hosts;
  LinkSpeed of_switches;
  std::vector<Host> places;  ///< with a topology: the host of each rank
  std::uint64_t packet = 0;  ///< as coll::ReplayOptions::packet
};

/// The version of network files that this program reads.
inline constexpr int kNetworkVersion = 1;

/// A network for so many ranks: one of built_in_networks(), or the file of that name (docs/simulator.md describes it).
/// `hosts` comes before the file's own 'ranks_per_host'.
/// Errors: BadInput; also if some ranks share a host of `hosts` and the network has nothing that sets a host apart.
Network load_network(const std::string& name_or_file, Rank ranks, const HostList& hosts = {});
/// From the text of a file; `name` is for messages.
Network parse_network(const std::string& text, const std::string& name, Rank ranks,
                      const HostList& hosts = {});

struct BuiltIn {
  std::string_view name;
  std::string_view what;
};
const std::vector<BuiltIn>& built_in_networks();

}  // namespace aqueduct::sim
