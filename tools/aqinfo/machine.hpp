#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace aqueduct::aqinfo {

/// Huge pages of one size that the system has set aside.
struct HugePages {
  std::uint64_t page_bytes = 0;
  std::uint64_t pages = 0;
  std::uint64_t free = 0;
};

/// What of this host matters to a job. A number that the system does not tell is 0, a word is empty.
struct Machine {
  std::string hostname;
  std::string system;              ///< "Linux 6.1.0 x86_64"
  std::uint32_t cores = 0;         ///< that are switched on
  std::uint32_t cores_usable = 0;  ///< that this process may run on
  std::uint64_t memory = 0;        ///< bytes
  std::uint64_t memory_available = 0;
  std::uint64_t lockable = 0;  ///< bytes a process may lock; UINT64_MAX: no limit
  std::uint64_t shm = 0;       ///< size of /dev/shm, bytes
  std::uint64_t shm_free = 0;
  std::uint64_t page_bytes = 0;
  std::string transparent_huge_pages;         ///< "always", "madvise", "never"
  std::string transparent_huge_pages_shared;  ///< of shared memory: also "advise", "within_size"
  std::vector<HugePages> huge_pages;
};

/// Asks the system.
Machine look_at_machine();

}  // namespace aqueduct::aqinfo
