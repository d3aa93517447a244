#pragma once

#include "core/network.hpp"
#include "runtime/choice.hpp"
#include "tools/aqinfo/machine.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace aqueduct::aqinfo {

/// An optional part of a conduit, and who does its work.
struct Part {
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
  /// Of an endpoint that was opened on trial; none when that was not possible.
  std::optional<core::Properties> properties;
  std::vector<Part> parts;
  std::vector<std::string> notes;  ///< what it said meanwhile, and why the trial failed if it did
};

/// Which conduit a job started here would use for some of its peers.
struct Choice {
  std::string conduit;  ///< empty: none
  std::string why;
  std::vector<runtime::PassedOver> passed_over;
};

/// What started this process, or what a job started here would take for it.
struct LauncherFacts {
  std::string name;
  std::string why;
  std::string pmix;  ///< the library that a job started through PMIx would use, or why it could not
};

/// Everything that aqinfo knows, before it is put in words.
struct Facts {
  Config config;
  Machine machine;
  LauncherFacts launcher;
  std::vector<std::string> plugin_folders;  ///< where plug-ins are looked for
  std::vector<ConduitFacts> conduits;
  Choice near;  ///< for ranks of this host
  Choice far;   ///< for ranks of other hosts
};

/// Looks at the host and tries each conduit of this installation.
Facts gather(const Config& config);

}  // namespace aqueduct::aqinfo
