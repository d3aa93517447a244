#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace aqrun {

/// Where the ranks' shared memory has files when they are told to use any (AQUEDUCT_SMP_MEMORY=posix).
/// `environment`: "NAME=value", what they get besides what this process has.
std::string shared_memory_folder(const std::vector<std::string>& environment);

/// Removes what a job's shared memory has left there. A rank removes its own files when it ends; one that is
/// killed cannot. Requires: no rank of the job is running.
void remove_shared_memory(const std::string& folder, std::uint64_t job) noexcept;

}  // namespace aqrun
