#pragma once

#include <aqueduct/job.hpp>

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace aqueduct::support {

using Settings = std::vector<std::pair<std::string, std::string>>;

/// Starts a job whose ranks are of this process, over loop: all goes over the wire, and nothing moves unless a rank makes
/// progress. Segments have 4 KiB, and there is no log; `settings` may say otherwise. If the job does not start, the test has
/// failed fatally.
void start_over_loop(std::optional<Job>& job, Rank ranks, const Settings& settings = {});

}  // namespace aqueduct::support
