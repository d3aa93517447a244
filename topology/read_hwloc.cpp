#include "topology/hwloc_library.hpp"
#include "topology/machine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <type_traits>
#include <utility>

namespace aqueduct::topology {
namespace {

/// Chosen: hwloc takes 0.2 s for a thousand, and its time grows with the square.
constexpr std::uint64_t kMostPretended = 4096;

using Loaded = std::unique_ptr<std::remove_pointer_t<hwloc_topology_t>, decltype(&hwloc_topology_destroy)>;

/// The word for a type of object; empty for those that tell nothing of memory: single processors, and the first cache,
/// which each core has for itself.
std::string_view name_of(hwloc_obj_type_t type) {
  switch (type) {
    case HWLOC_OBJ_PACKAGE: return "package";
    case HWLOC_OBJ_DIE: return "die";
    case HWLOC_OBJ_GROUP: return "group";
    case HWLOC_OBJ_NUMANODE: return "numa";
    case HWLOC_OBJ_L5CACHE: return "l5";
    case HWLOC_OBJ_L4CACHE: return "l4";
    case HWLOC_OBJ_L3CACHE: return "l3";
    case HWLOC_OBJ_L2CACHE: return "l2";
    case HWLOC_OBJ_CORE: return "core";
    default: return {};
  }
}

bool has_memory(hwloc_obj_type_t type) {
  return type != HWLOC_OBJ_L2CACHE && type != HWLOC_OBJ_CORE && type != HWLOC_OBJ_GROUP;
}

CpuSet cpus_in(const HwlocLibrary& hwloc, hwloc_const_bitmap_t set) {
  CpuSet cpus;
  if (set == nullptr) return cpus;
  for (int cpu = hwloc.next(set, -1); cpu >= 0; cpu = hwloc.next(set, cpu)) {
    cpus.push_back(static_cast<std::uint32_t>(cpu));
    if (cpus.size() == kMostCpus) break;  // an infinite set, which no machine has
  }
  return cpus;
}

Table::Found found_at(const HwlocLibrary& hwloc, hwloc_topology_t topology, int depth, const CpuSet& cpus) {
  const hwloc_obj_type_t type = hwloc.type_at(topology, depth);
  Table::Found found{name_of(type), std::vector<std::uint32_t>(cpus.size(), kNowhere), has_memory(type)};
  const unsigned count = hwloc.objects_at(topology, depth);
  for (unsigned i = 0; i < count; ++i) {
    const hwloc_obj_t object = hwloc.object(topology, depth, i);
    for (const std::uint32_t cpu : cpus_in(hwloc, object->cpuset)) {
      const auto at = std::ranges::lower_bound(cpus, cpu);
      if (at != cpus.end() && *at == cpu) found.domain[static_cast<std::size_t>(at - cpus.begin())] = i;
    }
  }
  return found;
}

/// The first cache of each level.
Caches caches_in(const HwlocLibrary& hwloc, hwloc_topology_t topology) {
  Caches out;
  // From the single processor outwards.
  const int depth = hwloc.depth(topology);
  for (int i = depth - 1; i >= 0; --i) {
    const hwloc_obj_type_t type = hwloc.type_at(topology, i);
    if (type < HWLOC_OBJ_L1CACHE || type > HWLOC_OBJ_L5CACHE) continue;
    const hwloc_obj_t object = hwloc.object(topology, i, 0);
    const std::uint64_t bytes = object->attr->cache.size;
    if (type == HWLOC_OBJ_L1CACHE) out.first = bytes;
    if (type == HWLOC_OBJ_L2CACHE) out.second = bytes;
    if (bytes == 0 || type == HWLOC_OBJ_L1CACHE) continue;
    out.last = bytes;
    out.sharing = static_cast<std::uint32_t>(cpus_in(hwloc, object->cpuset).size());
  }
  return out;
}

/// The processors of a synthetic topology: the product of its levels; hwloc would spend minutes on many of them
/// before it says anything. Reads numbers as hwloc does, by strtoul: 010 is 8 and 0x10 is 16, behind blanks or a sign.
std::uint64_t processors_in(const std::string& text) {
  std::uint64_t product = 1;
  int depth = 0;  // of brackets: what is in them describes a level, and multiplies nothing
  bool begins = true;
  for (const char* at = text.c_str(); *at != '\0' && product <= kMostPretended; ++at) {
    depth += *at == '(' || *at == '[' ? 1 : *at == ')' || *at == ']' ? -1 : 0;
    char* end = nullptr;
    const unsigned long number = depth == 0 && begins ? std::strtoul(at, &end, 0) : 0;
    if (end != nullptr && end != at) {
      product *= std::clamp<std::uint64_t>(number, 1, kMostPretended + 1);  // hwloc refuses 0
      at = end - 1;
    }
    begins = *at == ':' || *at == ' ' || *at == ')' || *at == ']';
  }
  return product;
}

/// What is wrong with the source; empty if it is taken.
std::string set_source(const HwlocLibrary& hwloc, hwloc_topology_t topology, const Source& source) {
  if (source.kind == Source::Kind::synthetic && processors_in(source.text) > kMostPretended) {
    return fmt::format("'{}' has more than {} processors, which is the most that can be pretended",
                       source.text, kMostPretended);
  }
  // hwloc wants the processors of a core named, too.
  if (source.kind == Source::Kind::synthetic && hwloc.set_synthetic(topology, source.text.c_str()) != 0 &&
      hwloc.set_synthetic(topology, (source.text + " pu:1").c_str()) != 0) {
    return fmt::format(
        "'{}' is no topology: write levels from outside in, as \"package:4 l3:1 core:8 pu:1\" (lstopo(1), "
        "synthetic "
        "topologies), the path of an XML file that lstopo has written, auto or none",
        source.text);
  }
  std::error_code ignored;
  // Of a pipe or a device a read may never end.
  if (source.kind == Source::Kind::xml && std::filesystem::exists(source.text, ignored) &&
      !std::filesystem::is_regular_file(source.text, ignored))
    return fmt::format("'{}' is no file: write one with `lstopo FILE.xml`", source.text);
  if (source.kind == Source::Kind::xml && hwloc.set_xml(topology, source.text.c_str()) != 0)
    return fmt::format("the file '{}' cannot be read as a topology: write it with `lstopo FILE.xml`",
                       source.text);
  return {};
}

}  // namespace

Reading read_machine(const Source& source) {
  Reading reading;
  if (source.kind == Source::Kind::none) return reading;
  const std::unique_ptr<HwlocLibrary> hwloc = load_hwloc(reading.problem);
  if (hwloc == nullptr) return reading;
  hwloc_topology_t raw = nullptr;
  if (hwloc->init(&raw) != 0) {
    reading.problem = "hwloc cannot start";
    return reading;
  }
  const Loaded topology(raw, hwloc->destroy);
  reading.problem = set_source(*hwloc, raw, source);
  if (!reading.problem.empty()) return reading;
  // All processors, also those that this process may not use: all ranks of the host shall read the same.
  hwloc->set_flags(raw, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED);
  hwloc->set_io_types_filter(raw, HWLOC_TYPE_FILTER_KEEP_NONE);
  if (hwloc->load(raw) != 0) {
    reading.problem =
        source.pretends()
            ? fmt::format("hwloc cannot read '{}': write a topology with `lstopo FILE.xml`", source.text)
            : std::string("hwloc cannot read the topology of this host");
    return reading;
  }
  const CpuSet cpus = cpus_in(*hwloc, hwloc->object(raw, 0, 0)->cpuset);
  std::vector<Table::Found> levels;
  const int depth = hwloc->depth(raw);
  for (int i = 1; i < depth; ++i) {
    if (!name_of(hwloc->type_at(raw, i)).empty()) levels.push_back(found_at(*hwloc, raw, i, cpus));
  }
  levels.push_back(found_at(*hwloc, raw, HWLOC_TYPE_DEPTH_NUMANODE, cpus));
  reading.table = Table::of(cpus, levels);
  reading.caches = caches_in(*hwloc, raw);
  return reading;
}

}  // namespace aqueduct::topology
