#pragma once

#include "core/log.hpp"
#include "core/network.hpp"

#include <memory>
#include <string>
#include <vector>

namespace aqueduct::runtime {

/// Which conduits serve a job, and why: near for ranks of one host, far for the others.
struct Choice {
  const core::ConduitEntry* near = nullptr;
  const core::ConduitEntry* far = nullptr;  ///< serves everybody where `near` is null
  std::string why;
  std::shared_ptr<void> plugin;  ///< keeps a loaded conduit in memory
};

/// What is known when the choice is made.
struct Circumstances {
  bool one_host = true;
  bool one_process = true;
};

/// Errors: bad_setting (no such conduit), not_supported (none can serve this job), version_mismatch (a plug-in of
/// another interface). The reason is in `why` of the log.
Result<Choice> choose_conduits(const Config& config, Circumstances job, core::Log& log);

/// Loads a conduit from a shared object. Errors: bad_setting, version_mismatch.
Result<std::pair<const core::ConduitEntry*, std::shared_ptr<void>>> load_plugin(const std::string& path,
                                                                                core::Log& log);

}  // namespace aqueduct::runtime
