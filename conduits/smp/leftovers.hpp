#pragma once

#include <aqueduct/status.hpp>

#include "core/log.hpp"

#include <cstdint>
#include <string>

namespace aqueduct::conduits::smp {

/// A locked file that says that a process of a job lives: as long as it does, nobody takes the job's files for leftovers.
///
/// A process makes it before its other files in AQUEDUCT_SMP_DIRECTORY, and removes it after them. One that is killed leaves
/// it behind, and the system drops the lock.
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

/// Removes what jobs of this user have left in `directory` none of whose processes lives any more: where even their launcher
/// was killed, nobody else does. Of a job that has no AliveFile nothing is known, so that its files stay.
/// Returns how many files that were.
std::size_t sweep_leftovers(const std::string& directory, core::Log& log) noexcept;

}  // namespace aqueduct::conduits::smp
