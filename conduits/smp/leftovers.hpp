#pragma once

#include <aqueduct/status.hpp>

#include "core/log.hpp"

#include <cstdint>
#include <string>

namespace aqueduct::conduits::smp {

/// A locked file that proves that a process of a job is alive, so that no other job removes the job's files as
/// leftovers.
///
/// A process creates it before its other files in AQUEDUCT_SMP_DIRECTORY, and removes it after them. If the process is
/// killed, the file stays, but the system releases the lock.
class AliveFile {
 public:
  /// Errors: network_failed, no_space; logged.
  static Result<AliveFile> create(const std::string& directory, std::uint64_t job, Rank first,
                                  core::Log& log);
  AliveFile(AliveFile&& other) noexcept;
  AliveFile& operator=(AliveFile&&) = delete;
  ~AliveFile();

 private:
  AliveFile(int descriptor, std::string path) noexcept : descriptor_(descriptor), path_(std::move(path)) {}
  int descriptor_;
  std::string path_;
};

/// Removes the files of this user's jobs whose processes are all dead. This is needed if the launcher was killed too:
/// it would have removed them. The files of a job without any AliveFile stay, because nothing is known about it.
/// Returns the number of files removed.
std::size_t sweep_leftovers(const std::string& directory, core::Log& log) noexcept;

}  // namespace aqueduct::conduits::smp
