#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace aqueduct::runtime {

/// The bytes that the machine has available (/proc/meminfo); UINT64_MAX if it cannot be found out.
std::uint64_t machine_room();
/// The bytes that the memory cgroups of a process leave it: the least of all levels. `membership` is the content of
/// /proc/PID/cgroup, and `root` the folder in which control groups are mounted. UINT64_MAX if there is no limit.
std::uint64_t cgroup_room(const std::string& root, const std::string& membership);
/// As above, for this process.
std::uint64_t cgroup_room();
/// The bytes of address space that `ulimit -v` leaves this process; UINT64_MAX if there is no limit.
std::uint64_t address_room();
/// The bytes of the given memory that have no page yet, so do not count as used. Memory that is not mapped has none.
std::uint64_t untouched(std::span<const std::byte> memory);

}  // namespace aqueduct::runtime
