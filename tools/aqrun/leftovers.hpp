#pragma once

#include "tools/aqrun/options.hpp"

#include <cstdint>
#include <string>

namespace aqrun {

/// Where the ranks' shared memory has files when they are told to use any (AQUEDUCT_SMP_MEMORY=posix).
std::string shared_memory_folder(const Options& options);

/// Removes what a job's shared memory has left there. A rank removes its own files when it ends; one that is
/// killed cannot. Requires: no rank of the job is running.
void remove_shared_memory(const std::string& folder, std::uint64_t job) noexcept;

}  // namespace aqrun
