#pragma once

#include <hwloc.h>

#include <memory>
#include <string>

namespace aqueduct::topology {

/// The functions of libhwloc that are used, from the library found at run time. Unloaded with this object: a rank that has
/// read the topology once keeps nothing of it but the table.
struct HwlocLibrary {
  HwlocLibrary() = default;
  HwlocLibrary(const HwlocLibrary&) = delete;
  HwlocLibrary& operator=(const HwlocLibrary&) = delete;
  ~HwlocLibrary();

  void* handle = nullptr;
  decltype(&hwloc_get_api_version) api_version = nullptr;
  decltype(&hwloc_topology_init) init = nullptr;
  decltype(&hwloc_topology_destroy) destroy = nullptr;
  decltype(&hwloc_topology_set_synthetic) set_synthetic = nullptr;
  decltype(&hwloc_topology_set_xml) set_xml = nullptr;
  decltype(&hwloc_topology_set_flags) set_flags = nullptr;
  decltype(&hwloc_topology_set_io_types_filter) set_io_types_filter = nullptr;
  decltype(&hwloc_topology_load) load = nullptr;
  decltype(&hwloc_topology_get_depth) depth = nullptr;
  decltype(&hwloc_get_depth_type) type_at = nullptr;
  decltype(&hwloc_get_nbobjs_by_depth) objects_at = nullptr;
  decltype(&hwloc_get_obj_by_depth) object = nullptr;
  decltype(&hwloc_bitmap_next) next = nullptr;
};

/// If there is none that can be used, returns null and the reason in `problem`.
std::unique_ptr<HwlocLibrary> load_hwloc(std::string& problem);

}  // namespace aqueduct::topology
