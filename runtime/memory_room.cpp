#include "runtime/memory_room.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string_view>
#include <vector>

#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

namespace aqueduct::runtime {
namespace {

constexpr std::uint64_t kNoLimit = UINT64_MAX;

std::uint64_t page_bytes() noexcept { return static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)); }

/// The first number in a file; kNoLimit if the file is missing or says "max".
std::uint64_t number_in(const std::string& path) {
  std::ifstream file(path);
  std::uint64_t number = 0;
  return file >> number ? number : kNoLimit;
}

/// The number after a word in a file, or 0.
std::uint64_t number_after(const std::string& path, std::string_view wanted) {
  std::ifstream file(path);
  std::string word;
  std::uint64_t number = 0;
  while (file >> word) {
    if (word == wanted && file >> number) return number;
  }
  return 0;
}

/// The files of one version of control groups.
struct CgroupFiles {
  const char* folder;       ///< under the root
  const char* limit;        ///< "/memory.max"
  const char* used;         ///< with pages of files that the system can drop
  const char* reclaimable;  ///< the word before their number in memory.stat
};
constexpr CgroupFiles kVersion1{"/memory", "/memory.limit_in_bytes", "/memory.usage_in_bytes",
                                "total_inactive_file"};
constexpr CgroupFiles kVersion2{"", "/memory.max", "/memory.current", "inactive_file"};

/// What one group leaves.
std::uint64_t room_of(const CgroupFiles& files, const std::string& group) {
  const std::uint64_t limit = number_in(group + files.limit);
  const std::uint64_t used = number_in(group + files.used);
  if (limit == kNoLimit || used == kNoLimit) return kNoLimit;
  const std::uint64_t kept = used - std::min(used, number_after(group + "/memory.stat", files.reclaimable));
  return limit - std::min(limit, kept);
}

/// The least room of a group and the groups around it.
std::uint64_t least_room(const CgroupFiles& files, const std::string& root, std::string path) {
  std::uint64_t room = kNoLimit;
  if (path == "/") path.clear();
  for (;;) {
    room = std::min(room, room_of(files, root + files.folder + path));
    const std::size_t end = path.rfind('/');
    if (end == std::string::npos) return room;
    path.resize(end);
  }
}

}  // namespace

std::uint64_t machine_room() {
  const std::uint64_t kib = number_after("/proc/meminfo", "MemAvailable:");
  return kib != 0 ? kib * 1024 : kNoLimit;
}

// A line is "number:controllers:path"; version 2 has no controllers.
std::uint64_t cgroup_room(const std::string& root, const std::string& membership) {
  std::uint64_t room = kNoLimit;
  std::istringstream lines(membership);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    const std::string path = line.substr(second + 1);
    if (controllers == ",,") room = std::min(room, least_room(kVersion2, root, path));
    if (controllers.find(",memory,") != std::string::npos)
      room = std::min(room, least_room(kVersion1, root, path));
  }
  return room;
}

std::uint64_t cgroup_room() {
  std::ifstream file("/proc/self/cgroup");
  return cgroup_room("/sys/fs/cgroup", {std::istreambuf_iterator<char>(file), {}});
}

std::uint64_t address_room() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return kNoLimit;
  const std::uint64_t used = number_in("/proc/self/statm");
  if (used == kNoLimit) return limit.rlim_cur;
  return limit.rlim_cur - std::min<std::uint64_t>(limit.rlim_cur, used * page_bytes());
}

std::uint64_t untouched(std::span<const std::byte> memory) {
  constexpr std::size_t kPagesAtOnce = std::size_t{1} << 16;  // chosen
  const std::uint64_t page = page_bytes();
  std::vector<unsigned char> states(kPagesAtOnce);
  // Memory of a small segment may begin within a page.
  const auto address = reinterpret_cast<std::uintptr_t>(memory.data());
  const std::byte* at = memory.data() - address % page;
  const std::byte* const end = memory.data() + memory.size();
  std::uint64_t pages = 0;
  while (at < end) {
    const auto bytes = std::min(static_cast<std::uint64_t>(end - at), kPagesAtOnce * page);
    const std::uint64_t count = (bytes + page - 1) / page;
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-const-cast): mincore only looks
    if (::mincore(const_cast<std::byte*>(at), bytes, states.data()) != 0) return pages * page;
    for (std::uint64_t i = 0; i < count; ++i) pages += (states[i] & 1u) == 0 ? 1 : 0;
    at += count * page;
  }
  return pages * page;
}

}  // namespace aqueduct::runtime
