#include "tools/aqinfo/machine.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string_view>

#include <sched.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <unistd.h>

namespace aqueduct::aqinfo {
namespace {

std::uint64_t number_in(const std::filesystem::path& file) {
  std::uint64_t number = 0;
  std::ifstream(file) >> number;
  return number;
}

/// The bracketed word of a list such as "always [madvise] never".
std::string chosen_in(const std::filesystem::path& file) {
  std::ifstream stream(file);
  for (std::string word; stream >> word;) {
    if (word.size() > 2 && word.front() == '[' && word.back() == ']') return word.substr(1, word.size() - 2);
  }
  return {};
}

void look_at_memory(Machine& machine) {
  std::ifstream stream("/proc/meminfo");
  std::string name;
  std::uint64_t kibibytes = 0;
  for (std::string line; std::getline(stream, line);) {
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos) continue;
    name = line.substr(0, colon);
    kibibytes = std::strtoull(line.c_str() + colon + 1, nullptr, 10);
    if (name == "MemTotal") machine.memory = kibibytes * 1024;
    if (name == "MemAvailable") machine.memory_available = kibibytes * 1024;
  }
  rlimit limit{};
  if (getrlimit(RLIMIT_MEMLOCK, &limit) == 0) {
    machine.lockable = limit.rlim_cur == RLIM_INFINITY ? UINT64_MAX : limit.rlim_cur;
  }
}

void look_at_shared_memory(Machine& machine) {
  struct statvfs file_system {};
  if (statvfs("/dev/shm", &file_system) != 0) return;
  machine.shm = std::uint64_t{file_system.f_frsize} * file_system.f_blocks;
  machine.shm_free = std::uint64_t{file_system.f_frsize} * file_system.f_bavail;
}

void look_at_pages(Machine& machine) {
  machine.page_bytes = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  const std::filesystem::path memory = "/sys/kernel/mm";
  machine.transparent_huge_pages = chosen_in(memory / "transparent_hugepage/enabled");
  machine.transparent_huge_pages_shared = chosen_in(memory / "transparent_hugepage/shmem_enabled");
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator(memory / "hugepages", none)) {
    constexpr std::string_view kStart = "hugepages-";  // "hugepages-2048kB"
    const std::string name = entry.path().filename();
    if (!name.starts_with(kStart)) continue;
    const std::uint64_t kibibytes = std::strtoull(name.c_str() + kStart.size(), nullptr, 10);
    machine.huge_pages.push_back({kibibytes * 1024, number_in(entry.path() / "nr_hugepages"),
                                  number_in(entry.path() / "free_hugepages")});
  }
  std::sort(machine.huge_pages.begin(), machine.huge_pages.end(),
            [](const HugePages& a, const HugePages& b) { return a.page_bytes < b.page_bytes; });
}

void look_at_cores(Machine& machine) {
  machine.cores = static_cast<std::uint32_t>(sysconf(_SC_NPROCESSORS_ONLN));
  cpu_set_t mine;
  CPU_ZERO(&mine);
  // Fails only on hosts with more cores than cpu_set_t holds; then all cores count as usable.
  const bool known = sched_getaffinity(0, sizeof(mine), &mine) == 0;
  machine.cores_usable = known ? static_cast<std::uint32_t>(CPU_COUNT(&mine)) : machine.cores;
}

}  // namespace

Machine look_at_machine() {
  Machine machine;
  utsname system{};
  if (uname(&system) == 0) {
    machine.hostname = system.nodename;
    machine.system = std::string(system.sysname) + " " + system.release + " " + system.machine;
  }
  look_at_cores(machine);
  look_at_memory(machine);
  look_at_shared_memory(machine);
  look_at_pages(machine);
  return machine;
}

}  // namespace aqueduct::aqinfo
