#include "tools/aqrun/binding.hpp"

#include <fmt/format.h>
#include <hwloc.h>
#include <hwloc/glibc-sched.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <numeric>
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

/// Whether the processors of one are all among those of the other.
bool is_within(const cpu_set_t& one, const cpu_set_t& other) {
  cpu_set_t common;
  CPU_AND(&common, &one, &other);
  return CPU_EQUAL(&common, &one) != 0;
}

/// Leaves out places that hold another one: a process bound there would share its processors, while others have none. NUMA
/// nodes of two kinds of memory have the same processors, and the memory of a whole package has those of all its nodes.
std::vector<cpu_set_t> smallest_of(const std::vector<cpu_set_t>& all) {
  std::vector<cpu_set_t> smallest;
  for (std::size_t i = 0; i < all.size(); ++i) {
    bool holds_another = false;
    for (std::size_t k = 0; k < all.size() && !holds_another; ++k) {
      if (k != i && is_within(all[k], all[i])) holds_another = k < i || !is_within(all[i], all[k]);
    }
    if (!holds_another) smallest.push_back(all[i]);
  }
  return smallest;
}

/// The processors of each object of that type that this process may use.
std::vector<cpu_set_t> places(const std::string& kind) {
  hwloc_topology_t raw = nullptr;
  if (hwloc_topology_init(&raw) != 0) return {};
  const Topology topology(raw);
  // Only processors are needed, and reading the rest takes most of the time. But a NUMA node has the processors of the object
  // that it is attached to: without packages and groups, each would have those of the whole host.
  const bool numa = type_of(kind) == HWLOC_OBJ_NUMANODE;
  hwloc_topology_set_all_types_filter(raw,
                                      numa ? HWLOC_TYPE_FILTER_KEEP_STRUCTURE : HWLOC_TYPE_FILTER_KEEP_NONE);
  hwloc_topology_set_type_filter(raw, type_of(kind), HWLOC_TYPE_FILTER_KEEP_ALL);
  // Without cores and packages, processors would stand in the order of their numbers, which often names those of all cores once before
  // the second ones.
  if (type_of(kind) == HWLOC_OBJ_PU) {
    hwloc_topology_set_type_filter(raw, HWLOC_OBJ_CORE, HWLOC_TYPE_FILTER_KEEP_ALL);
    hwloc_topology_set_type_filter(raw, HWLOC_OBJ_PACKAGE, HWLOC_TYPE_FILTER_KEEP_ALL);
  }
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
  return smallest_of(found);
}

/// An upper bound for the number of cores: cheap, and enough to see that there are more ranks than cores.
std::uint32_t processors() {
  cpu_set_t set;
  return ::sched_getaffinity(0, sizeof set, &set) == 0 ? static_cast<std::uint32_t>(CPU_COUNT(&set)) : 0;
}

}  // namespace

std::variant<std::vector<cpu_set_t>, std::string> choose_binding(const std::string& kind,
                                                                 std::span<const std::uint32_t> ranks_of) {
  if (kind == "none") return std::vector<cpu_set_t>{};
  const std::uint32_t ranks = std::accumulate(ranks_of.begin(), ranks_of.end(), 0u);
  const bool automatic = kind == "auto";
  if (automatic && (ranks_of.size() == 1 || ranks > processors())) return std::vector<cpu_set_t>{};

  const std::vector<cpu_set_t> found = places(kind);
  if (automatic && ranks > found.size()) return std::vector<cpu_set_t>{};
  if (found.empty()) {
    return fmt::format("--bind {}: hwloc finds none of these here; try --bind none", kind);
  }
  // A process gets one core (or hardware thread) per rank, but one package or NUMA node for all its ranks.
  const bool one_each = type_of(kind) == HWLOC_OBJ_CORE || type_of(kind) == HWLOC_OBJ_PU;
  std::vector<cpu_set_t> chosen(ranks_of.size());
  std::size_t next = 0;
  for (std::size_t process = 0; process < chosen.size(); ++process) {
    CPU_ZERO(&chosen[process]);
    for (std::uint32_t left = one_each ? ranks_of[process] : 1; left > 0; --left, ++next) {
      CPU_OR(&chosen[process], &chosen[process], &found[next % found.size()]);
    }
  }
  return chosen;
}

}  // namespace aqrun
