#include "topology/hwloc_library.hpp"

#include <fmt/format.h>

#include <dlfcn.h>

namespace aqueduct::topology {
namespace {

constexpr const char* kFile = "libhwloc.so.15";  // of hwloc 2
constexpr unsigned kMajor = 16;                  // the bits of a version below its first number

template <class Function>
void find(const HwlocLibrary& library, const char* name, Function& function, std::string& missing) {
  function = reinterpret_cast<Function>(::dlsym(library.handle, name));
  if (function == nullptr && missing.empty()) missing = name;
}

}  // namespace

HwlocLibrary::~HwlocLibrary() {
  if (handle != nullptr) ::dlclose(handle);
}

std::unique_ptr<HwlocLibrary> load_hwloc(std::string& problem) {
  auto library = std::make_unique<HwlocLibrary>();
  library->handle = ::dlopen(kFile, RTLD_NOW | RTLD_LOCAL);
  if (library->handle == nullptr) {
    problem = fmt::format("libhwloc cannot be loaded ({}): install it (Debian: libhwloc15)", ::dlerror());
    return nullptr;
  }
  std::string missing;
  find(*library, "hwloc_get_api_version", library->api_version, missing);
  find(*library, "hwloc_topology_init", library->init, missing);
  find(*library, "hwloc_topology_destroy", library->destroy, missing);
  find(*library, "hwloc_topology_set_synthetic", library->set_synthetic, missing);
  find(*library, "hwloc_topology_set_xml", library->set_xml, missing);
  find(*library, "hwloc_topology_set_flags", library->set_flags, missing);
  find(*library, "hwloc_topology_set_io_types_filter", library->set_io_types_filter, missing);
  find(*library, "hwloc_topology_load", library->load, missing);
  find(*library, "hwloc_topology_get_depth", library->depth, missing);
  find(*library, "hwloc_get_depth_type", library->type_at, missing);
  find(*library, "hwloc_get_nbobjs_by_depth", library->objects_at, missing);
  find(*library, "hwloc_get_obj_by_depth", library->object, missing);
  find(*library, "hwloc_bitmap_next", library->next, missing);
  if (!missing.empty()) {
    problem = fmt::format("{} lacks {}: install hwloc 2 (Debian: libhwloc15)", kFile, missing);
    return nullptr;
  }
  if (const unsigned version = library->api_version(); version >> kMajor != HWLOC_API_VERSION >> kMajor) {
    problem =
        fmt::format("{} has the interface {:#x}, and this build of Aqueduct is for {:#x}: install hwloc 2",
                    kFile, version, HWLOC_API_VERSION);
    return nullptr;
  }
  return library;
}

}  // namespace aqueduct::topology
