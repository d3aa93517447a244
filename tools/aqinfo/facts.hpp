#pragma once

#include "core/network.hpp"
#include "runtime/choice.hpp"
#include "tools/aqinfo/machine.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace aqueduct::aqinfo {

/// A capability: done natively by the conduit, or by the reference layer.
struct Capability {
  std::string_view name;  ///< "rma"
  bool native = false;
  std::string_view otherwise;  ///< how the reference layer does it
};

/// One conduit on this host.
struct ConduitFacts {
  std::string name;
  std::string summary;
  bool crosses_hosts = false;
  std::string plugin;  ///< the file it came from; empty: compiled in
  core::Usability usability;
  /// Of an endpoint that was opened on trial; none if the trial failed.
  std::optional<core::Properties> properties;
  std::vector<Capability> capabilities;
  /// What the conduit logged during the trial, and why the trial failed if it did.
  std::vector<std::string> notes;
};

/// The conduit that a job started here would use for some of its peers.
struct ChosenConduit {
  std::string conduit;  ///< empty: none
  std::string why;
  std::vector<runtime::PassedOver> passed_over;
};

/// The launcher that started this process, or that a job started here would detect.
struct LauncherFacts {
  std::string name;
  std::string why;
  std::string pmix;  ///< the libpmix that a job started through PMIx would use, or why it could not
};

/// Everything that aqinfo reports, before it is formatted.
struct Facts {
  Config config;
  Machine machine;
  LauncherFacts launcher;
  std::vector<std::string> plugin_folders;  ///< the folders that are searched for plug-ins
  std::vector<ConduitFacts> conduits;
  ChosenConduit near;  ///< for ranks of this host
  ChosenConduit far;   ///< for ranks of other hosts
};

/// Looks at the host and tries each conduit of this installation.
Facts gather(const Config& config);
/// Properties::through_sockets of the conduit that ranks of other hosts would be reached by; false if there is none.
bool goes_through_sockets(const Config& config);

}  // namespace aqueduct::aqinfo
