#include "conduits/smp/leftovers.hpp"

#include "core/descriptors.hpp"

#include <dirent.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <map>
#include <memory>
#include <new>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace aqueduct::conduits::smp {
namespace {

constexpr std::string_view kFileStart = "aqueduct-";
constexpr std::string_view kAlive = "-alive-";

/// The job in a file name "aqueduct-JOB-…"; nothing if the name has another form.
std::optional<std::uint64_t> job_of_file(std::string_view name) noexcept {
  std::uint64_t job = 0;
  if (!name.starts_with(kFileStart)) return std::nullopt;
  name.remove_prefix(kFileStart.size());
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), job);
  if (error != std::errc{} || end == name.data() + name.size() || *end != '-') return std::nullopt;
  return job;
}

bool says_alive(std::string_view name) noexcept { return name.find(kAlive) != std::string_view::npos; }

/// The names of files of this user's jobs, by job.
using FilesOfJobs = std::map<std::uint64_t, std::vector<std::string>>;
FilesOfJobs files_of_jobs(int directory) {
  FilesOfJobs found;
  const int again = ::openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR* const all = again >= 0 ? ::fdopendir(again) : nullptr;
  if (all == nullptr) {
    if (again >= 0) ::close(again);
    return found;
  }
  const std::unique_ptr<DIR, int (*)(DIR*)> closes(all, ::closedir);
  while (const dirent* entry = ::readdir(all)) {
    const auto job = job_of_file(entry->d_name);
    struct stat about {};
    if (!job || ::fstatat(directory, entry->d_name, &about, AT_SYMLINK_NOFOLLOW) != 0) continue;
    if (S_ISREG(about.st_mode) && about.st_uid == ::geteuid()) found[*job].emplace_back(entry->d_name);
  }
  return found;
}

/// Locks all AliveFiles of a job, which proves that its processes are dead, and returns the descriptors. Nothing if a
/// process is alive.
std::optional<std::vector<int>> locks_of_dead(int directory, const std::vector<std::string>& files) {
  std::vector<int> locks;
  for (const std::string& name : files) {
    if (!says_alive(name)) continue;
    const int file = ::openat(directory, name.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (file < 0 && errno == ENOENT)
      continue;  // its process has just ended normally, or another process removes it
    locks.push_back(file);
    if (file >= 0 && ::flock(file, LOCK_EX | LOCK_NB) == 0) continue;
    for (const int lock : locks) {
      if (lock >= 0) ::close(lock);
    }
    return std::nullopt;
  }
  return locks;
}

}  // namespace

Result<AliveFile> AliveFile::create(const std::string& directory, std::uint64_t job, Rank first,
                                    core::Log& log) {
  const std::string path = fmt::format("{}/{}{}{}{}", directory, kFileStart, job, kAlive, first);
  // Another job may find the file before it is locked, and remove it as a leftover. Then this process creates it again.
  for (;;) {
    const int file =
        core::above_standard(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (file < 0) {
      const int why = errno;
      log.error("cannot make {}: {}; is AQUEDUCT_SMP_DIRECTORY a writable tmpfs?", path, std::strerror(why));
      return why == ENOSPC ? ErrorCode::no_space : ErrorCode::network_failed;
    }
    struct stat about {};
    const bool locked = ::flock(file, LOCK_SH) == 0 && ::fstat(file, &about) == 0;
    const int why = errno;
    if (locked && about.st_nlink != 0) return AliveFile(file, path);
    ::close(file);
    if (!locked && why != EINTR) {
      log.error("{} cannot be locked: {}; another AQUEDUCT_SMP_DIRECTORY may help", path, std::strerror(why));
      ::unlink(path.c_str());
      return ErrorCode::network_failed;
    }
  }
}

AliveFile::AliveFile(AliveFile&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)), path_(std::move(other.path_)) {}

AliveFile::~AliveFile() {
  if (descriptor_ < 0) return;
  ::unlink(path_.c_str());
  ::close(descriptor_);
}

// First lists all files, then the AliveFiles again. A process creates its AliveFile before its other files; so if a
// file is in the first list and its process is alive, the AliveFile is in the second. AliveFiles are removed last, so
// that the next sweep can continue one that is interrupted.
std::size_t sweep_leftovers(const std::string& directory, core::Log& log) noexcept try {
  const int folder = ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return 0;
  std::size_t removed = 0;
  const FilesOfJobs files = files_of_jobs(folder);
  const FilesOfJobs now = files.empty() ? FilesOfJobs{} : files_of_jobs(folder);
  for (const auto& [job, names] : files) {
    const auto present = now.find(job);
    if (present == now.end()) continue;
    const auto locks = locks_of_dead(folder, present->second);
    if (!locks || locks->empty()) continue;
    for (const bool alive : {false, true}) {
      for (const std::string& name : alive ? present->second : names) {
        if (says_alive(name) == alive && ::unlinkat(folder, name.c_str(), 0) == 0) ++removed;
      }
    }
    for (const int lock : *locks) ::close(lock);
    log.info("removed from {} what job {} has left there: all its processes were killed", directory, job);
  }
  ::close(folder);
  return removed;
} catch (const std::bad_alloc&) {
  return 0;  // leaves them for the next job
}

}  // namespace aqueduct::conduits::smp
