#pragma once

#include <aqueduct/network_model.hpp>
#include <aqueduct/rank.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace aqueduct::core {

class Log;

/// The version of the files that this library writes and reads. docs/network-model.md has their schema.
inline constexpr std::uint64_t kProfileVersion = 1;
inline constexpr std::string_view kProfileFormat = "aqueduct-network-profile";

/// What a profile says of a conduit on a machine, by level: how close two ranks are.
struct NetworkProfile {
  std::vector<std::pair<std::string, NetworkModel>> levels;
  /// Levels that were measured over another network are left out: their names, and the network of the last one.
  std::vector<std::string> of_others;
  std::string other_network;

  /// The model of that level. Null: it was not measured.
  const NetworkModel* find(std::string_view level) const noexcept;
  /// That of two ranks of one host, or of two hosts, at the most distant level that was measured. Null: none was.
  const NetworkModel* between(bool same_host) const noexcept;
  /// Whether all that was measured between two ranks of one host, or of two hosts, is of another network.
  bool is_of_another(bool same_host) const noexcept;
};

struct ProfileRead {
  NetworkProfile profile;
  std::string problem;  ///< empty; or why the file cannot be used, and what to do
};

/// The level between hosts. It holds for all machines of a kind, the others for the machine that was measured.
inline constexpr std::string_view kBetweenHosts = "network";

/// Reads the text of a profile of this conduit and machine. Of another machine of this kind, only kBetweenHosts. `network`
/// (Properties::network): levels that say another one are left out; empty: all are taken.
ProfileRead read_profile(std::string_view text, std::string_view machine, std::string_view conduit,
                         std::string_view network = {});

/// This machine in words: its name, its processor and how many of them: "node7, AMD EPYC 9R14, 2 processors".
std::string machine_name();
/// The kind of a machine: its name in words without that of the host.
std::string_view kind_of_machine(std::string_view machine) noexcept;
/// Whether `named` (AQUEDUCT_NETWORK_PROFILE) is a folder of profiles.
bool is_profile_folder(const std::string& named);
/// The file in which a folder holds what was measured of a conduit between two ranks of this host; or between hosts, on any
/// machine of this kind.
std::string profile_file(std::string_view folder, std::string_view conduit, bool same_host);

/// Reads the profile that AQUEDUCT_NETWORK_PROFILE names for a conduit: a file, or those of a folder. Empty, with a warning, if
/// it cannot be used; without one, if a folder has none.
NetworkProfile load_profile(Log& log, const std::string& named, const std::string& conduit,
                            std::string_view network = {});

/// What is assumed of a conduit without a profile. docs/network-model.md has the numbers and their sources.
NetworkModel default_network_model(std::string_view conduit, bool same_host) noexcept;

}  // namespace aqueduct::core
