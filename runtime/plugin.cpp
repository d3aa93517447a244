#include "runtime/choice.hpp"

#include <dlfcn.h>

namespace aqueduct::runtime {

Result<std::pair<const core::ConduitEntry*, std::shared_ptr<void>>> load_plugin(const std::string& path,
                                                                                core::Log& log) {
  void* handle = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    log.error("AQUEDUCT_CONDUIT={} cannot be loaded: {}", path, ::dlerror());
    return ErrorCode::bad_setting;
  }
  std::shared_ptr<void> library(handle, [](void* h) { ::dlclose(h); });
  const auto get = reinterpret_cast<core::ConduitEntryFunction>(::dlsym(handle, core::kPluginSymbol));
  const core::ConduitEntry* entry = get != nullptr ? get() : nullptr;
  if (entry == nullptr) {
    log.error("{} is not a conduit: it exports no {}()", path, core::kPluginSymbol);
    return ErrorCode::bad_setting;
  }
  if (entry->interface_version != core::kConduitInterface) {
    log.error("{} was built for conduit interface {}, this library has {}: build it against this version",
              path, entry->interface_version, core::kConduitInterface);
    return ErrorCode::version_mismatch;
  }
  return std::pair{entry, std::move(library)};
}

}  // namespace aqueduct::runtime
