#pragma once

#include "core/log.hpp"
#include "core/network.hpp"

#include <functional>
#include <string>
#include <vector>

namespace aqueduct::runtime {

/// A conduit that was looked at and not taken.
struct PassedOver {
  std::string name;
  std::string why;
};

/// Which conduits serve a job, and why: near for ranks of one host, far for the others.
struct Choice {
  const core::ConduitEntry* near = nullptr;
  const core::ConduitEntry* far = nullptr;  ///< serves everybody where `near` is null
  std::string why;
  std::vector<PassedOver> passed_over;  ///< of the automatic choice of the far one
};

/// What is known when the choice is made.
struct Circumstances {
  bool one_host = true;
  bool one_process = true;
  /// Gives `mine` to all processes of the job and returns what each gave; null: nobody else is asked.
  std::function<Result<std::vector<std::string>>(const std::string& mine)> ask_all = nullptr;
};

/// Errors: bad_setting (no such conduit), not_supported (none can serve this job), version_mismatch (a plug-in of
/// another interface), and those of `ask_all`. The reason is in the log.
Result<Choice> choose_conduits(const Config& config, const Circumstances& job, core::Log& log);

}  // namespace aqueduct::runtime
