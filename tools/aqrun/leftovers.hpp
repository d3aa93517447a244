#pragma once

#include <cstdint>
#include <ctime>
#include <string>
#include <vector>

#include <sys/types.h>

namespace aqrun {

/// The folder of the ranks' shared memory, if they use files (AQUEDUCT_SMP_MEMORY=posix). `environment`:
/// "NAME=value", variables that the ranks have in addition to this process's.
std::string shared_memory_folder(const std::vector<std::string>& environment);

/// Removes the files that a job's shared memory has left in the folder. A rank removes its own files when it ends,
/// unless it is killed. Requires: no rank of the job is running.
void remove_shared_memory(const std::string& folder, std::uint64_t job) noexcept;

/// Removes what libfabric's provider `shm` has left in /dev/shm of processes of this job that were killed: 16 MiB each, by the
/// name PID:UID:INDEX. `ended`: these processes. `since`: when the first of them began; files that have not changed since are others'.
void remove_libfabric_memory(const std::vector<pid_t>& ended, std::time_t since) noexcept;

}  // namespace aqrun
