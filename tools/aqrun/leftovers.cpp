#include "tools/aqrun/leftovers.hpp"

#include <dirent.h>

#include <algorithm>
#include <charconv>
#include <csignal>
#include <cstdlib>
#include <string_view>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace aqrun {

std::string shared_memory_folder(const std::vector<std::string>& environment) {
  constexpr std::string_view kName = "AQUEDUCT_SMP_DIRECTORY=";
  std::string folder = "/dev/shm";
  if (const char* inherited = std::getenv("AQUEDUCT_SMP_DIRECTORY"); inherited != nullptr) folder = inherited;
  for (const std::string& assignment : environment) {
    if (assignment.starts_with(kName)) folder = assignment.substr(kName.size());
  }
  return folder;
}

namespace {

/// The process whose file of libfabric has this name. 0: it is another file.
pid_t owner_of(std::string_view name) noexcept {
  pid_t pid = 0;
  const char* const end = name.data() + name.size();
  const auto [stopped, error] = std::from_chars(name.data(), end, pid);
  const std::string_view rest(stopped, static_cast<std::size_t>(end - stopped));
  const bool is_it = error == std::errc{} && std::ranges::count(rest, ':') == 2 && rest.starts_with(':') &&
                     rest.find_first_not_of(":0123456789") == std::string_view::npos;
  return is_it ? pid : 0;
}

}  // namespace

void remove_libfabric_memory(const std::vector<pid_t>& ended, std::time_t since) noexcept {
  DIR* all = ::opendir("/dev/shm");
  if (all == nullptr) return;
  while (const dirent* entry = ::readdir(all)) {
    const pid_t pid = owner_of(entry->d_name);
    if (pid <= 0 || std::ranges::find(ended, pid) == ended.end() || ::kill(pid, 0) == 0) continue;
    struct stat about {};
    const bool is_file = ::fstatat(::dirfd(all), entry->d_name, &about, AT_SYMLINK_NOFOLLOW) == 0;
    if (!is_file || about.st_uid != ::geteuid() || about.st_ctime < since) continue;
    ::unlinkat(::dirfd(all), entry->d_name, 0);
  }
  ::closedir(all);
}

// conduits/smp/memory.cpp defines the names.
void remove_shared_memory(const std::string& folder, std::uint64_t job) noexcept {
  const std::string ours = "aqueduct-" + std::to_string(job) + "-";
  DIR* all = ::opendir(folder.c_str());
  if (all == nullptr) return;  // without the folder there are no files
  while (const dirent* entry = ::readdir(all)) {
    if (std::string_view(entry->d_name).starts_with(ours)) ::unlinkat(::dirfd(all), entry->d_name, 0);
  }
  ::closedir(all);
}

}  // namespace aqrun
