#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace aqrun {

/// The folder of the ranks' shared memory, if they use files (AQUEDUCT_SMP_MEMORY=posix). `environment`:
/// "NAME=value", variables that the ranks have in addition to this process's.
std::string shared_memory_folder(const std::vector<std::string>& environment);

/// Removes the files that a job's shared memory has left in the folder. A rank removes its own files when it ends,
/// unless it is killed. Requires: no rank of the job is running.
void remove_shared_memory(const std::string& folder, std::uint64_t job) noexcept;

}  // namespace aqrun
