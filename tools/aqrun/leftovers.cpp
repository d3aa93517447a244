#include "tools/aqrun/leftovers.hpp"

#include <dirent.h>

#include <cstdlib>
#include <string_view>

#include <fcntl.h>
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
