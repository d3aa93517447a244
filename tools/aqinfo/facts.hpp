#pragma once

#include "core/network.hpp"
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
};

/// Everything that aqinfo knows, before it is put in words.
struct Facts {
  Config config;
  Machine machine;
  std::vector<ConduitFacts> conduits;
  Choice near;  ///< for ranks of this host
  Choice far;   ///< for ranks of other hosts
};

/// Looks at the host and tries each conduit that was compiled in.
Facts gather(const Config& config);

}  // namespace aqueduct::aqinfo
