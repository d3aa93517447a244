#pragma once

#include "core/log.hpp"
#include "core/network.hpp"

#include <functional>
#include <string>
#include <vector>

namespace aqueduct::runtime {

/// A conduit that the automatic choice did not take.
struct PassedOver {
  std::string name;
  std::string why;
};

/// The conduits of a job, and the reason for them: near for the ranks of a host, far for the others.
struct ConduitChoice {
  const core::ConduitEntry* near = nullptr;
  const core::ConduitEntry* far = nullptr;  ///< serves all ranks if `near` is null
  std::string why;
  std::vector<PassedOver> passed_over;  ///< by the automatic choice of the far one
};

/// The facts about a job that the choice depends on.
struct Circumstances {
  bool one_host = true;
  bool one_process = true;
  /// Gives `mine` to all processes of the job and returns what each gave. Null: this process chooses alone.
  std::function<Result<std::vector<std::string>>(const std::string& mine)> ask_all = nullptr;
};

/// Chooses the conduits of a job.
///
/// Errors: bad_setting (no such conduit), not_supported (no conduit can serve this job), version_mismatch (a plug-in
///         for another version of the interface), and those of `ask_all`. The log has the reason.
Result<ConduitChoice> choose_conduits(const Config& config, const Circumstances& job, core::Log& log);

}  // namespace aqueduct::runtime
