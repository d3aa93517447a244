#include "sim/free_memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>

#include <sys/resource.h>
#include <unistd.h>

namespace aqueduct::sim {

namespace {

std::uint64_t page_bytes() { return static_cast<std::uint64_t>(std::max(1L, ::sysconf(_SC_PAGESIZE))); }

/// What the system can give, dropping what it keeps of files; 0: not known.
std::uint64_t free_of_machine() {
  std::ifstream info("/proc/meminfo");
  for (std::string word; info >> word;) {
    std::uint64_t kib = 0;
    if (word == "MemAvailable:" && info >> kib) return kib * 1024;
  }
  const long pages = ::sysconf(_SC_AVPHYS_PAGES);
  return pages > 0 ? static_cast<std::uint64_t>(pages) * page_bytes() : 0;
}

}  // namespace

std::uint64_t free_memory() {
  const std::uint64_t machine = free_of_machine();
  rlimit limit{};
  if (::getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return machine;
  std::uint64_t used = 0;
  std::ifstream("/proc/self/statm") >> used;
  used *= page_bytes();
  const std::uint64_t addresses = limit.rlim_cur > used ? limit.rlim_cur - used : 1;
  return machine == 0 ? addresses : std::min(machine, addresses);
}

void need_memory(std::uint64_t bytes, const std::string& what) {
  const std::uint64_t limit = free_memory();
  if (limit != 0 && bytes > limit)
    throw BadInput(fmt::format("{} need {} MiB, but {} MiB are free", what, (bytes >> 20) + 1, limit >> 20));
}

}  // namespace aqueduct::sim
