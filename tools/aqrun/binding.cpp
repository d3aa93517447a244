#include "tools/aqrun/binding.hpp"

#include <fmt/format.h>
#include <hwloc.h>
#include <hwloc/glibc-sched.h>

#include <memory>
#include <type_traits>

namespace aqrun {
namespace {

struct DestroyTopology {
  void operator()(hwloc_topology_t topology) const noexcept { hwloc_topology_destroy(topology); }
};
using Topology = std::unique_ptr<std::remove_pointer_t<hwloc_topology_t>, DestroyTopology>;

struct FreeBitmap {
  void operator()(hwloc_bitmap_t bitmap) const noexcept { hwloc_bitmap_free(bitmap); }
};
using Bitmap = std::unique_ptr<std::remove_pointer_t<hwloc_bitmap_t>, FreeBitmap>;

hwloc_obj_type_t type_of(const std::string& kind) {
  if (kind == "pu") return HWLOC_OBJ_PU;
  if (kind == "numa") return HWLOC_OBJ_NUMANODE;
  if (kind == "package") return HWLOC_OBJ_PACKAGE;
  return HWLOC_OBJ_CORE;
}

/// The processors of each object of that type that this process may use.
std::vector<cpu_set_t> places(const std::string& kind) {
  hwloc_topology_t raw = nullptr;
  if (hwloc_topology_init(&raw) != 0) return {};
  const Topology topology(raw);
  // Only processors are needed, and reading the rest takes most of the time.
  hwloc_topology_set_all_types_filter(raw, HWLOC_TYPE_FILTER_KEEP_NONE);
  hwloc_topology_set_type_filter(raw, type_of(kind), HWLOC_TYPE_FILTER_KEEP_ALL);
  if (hwloc_topology_load(raw) != 0) return {};

  const Bitmap mine(hwloc_bitmap_alloc());
  const Bitmap usable(hwloc_bitmap_alloc());
  if (hwloc_get_cpubind(raw, mine.get(), HWLOC_CPUBIND_PROCESS) != 0) hwloc_bitmap_fill(mine.get());
  std::vector<cpu_set_t> found;
  const int count = hwloc_get_nbobjs_by_type(raw, type_of(kind));
  for (int i = 0; i < count; ++i) {
    const hwloc_obj_t object = hwloc_get_obj_by_type(raw, type_of(kind), static_cast<unsigned>(i));
    hwloc_bitmap_and(usable.get(), object->cpuset, mine.get());
    if (hwloc_bitmap_iszero(usable.get())) continue;
    cpu_set_t set;
    if (hwloc_cpuset_to_glibc_sched_affinity(raw, usable.get(), &set, sizeof set) == 0) found.push_back(set);
  }
  return found;
}

/// An upper bound for the number of cores: cheap, and enough to see that there are more ranks than cores.
std::uint32_t processors() {
  cpu_set_t set;
  return ::sched_getaffinity(0, sizeof set, &set) == 0 ? static_cast<std::uint32_t>(CPU_COUNT(&set)) : 0;
}

}  // namespace

std::variant<std::vector<cpu_set_t>, std::string> choose_binding(const std::string& kind,
                                                                 std::uint32_t processes,
                                                                 std::uint32_t ranks_per_process) {
  if (kind == "none") return std::vector<cpu_set_t>{};
  const std::uint32_t ranks = processes * ranks_per_process;
  const bool automatic = kind == "auto";
  if (automatic && (processes == 1 || ranks > processors())) return std::vector<cpu_set_t>{};

  const std::vector<cpu_set_t> found = places(kind);
  if (automatic && ranks > found.size()) return std::vector<cpu_set_t>{};
  if (found.empty()) {
    return fmt::format("--bind {}: hwloc finds none of these here; try --bind none", kind);
  }
  // A process gets one core (or hardware thread) per rank, but one package or NUMA node for all its ranks.
  const std::uint32_t each =
      type_of(kind) == HWLOC_OBJ_CORE || type_of(kind) == HWLOC_OBJ_PU ? ranks_per_process : 1;
  std::vector<cpu_set_t> chosen(processes);
  for (std::uint32_t process = 0; process < processes; ++process) {
    CPU_ZERO(&chosen[process]);
    for (std::uint32_t k = 0; k < each; ++k) {
      CPU_OR(&chosen[process], &chosen[process], &found[(process * each + k) % found.size()]);
    }
  }
  return chosen;
}

}  // namespace aqrun
