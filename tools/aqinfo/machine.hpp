#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace aqueduct::aqinfo {

/// Huge pages of one size that the system has reserved.
struct HugePages {
  std::uint64_t page_bytes = 0;
  std::uint64_t pages = 0;
  std::uint64_t free = 0;
};

/// The facts about this host that matter to a job. An unknown number is 0, an unknown word is empty.
struct Machine {
  std::string hostname;
  std::string system;              ///< "Linux 6.1.0 x86_64"
  std::uint32_t cores = 0;         ///< that are online
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

/// Queries the system.
Machine look_at_machine();

}  // namespace aqueduct::aqinfo
