#include "bootstrap/pmix_library.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include <dlfcn.h>

namespace aqueduct::bootstrap {
namespace {

// The file's name has been the same since PMIx 2, and later versions only add functions.
constexpr const char* kUsualFile = "libpmix.so.2";

/// Looks up one function. `missing` keeps the name of the first that is absent.
template <class Function>
void find(void* library, const char* name, Function& function, std::string& missing) {
  function = reinterpret_cast<Function>(::dlsym(library, name));
  if (function == nullptr && missing.empty()) missing = name;
}

}  // namespace

std::string PmixLibrary::version() const {
  // The whole text is "OpenPMIx 4.2.2 (PMIx Standard: …), repo rev: …": name and number are enough.
  const std::string whole = get_version();
  return whole.substr(0, std::min(whole.find(" ("), whole.find(',')));
}

std::string PmixLibrary::text(pmix_status_t status) const {
  return fmt::format("{} ({})", error_string(status), status);
}

std::shared_ptr<const PmixLibrary> load_pmix(const std::string& file, std::string& problem) {
  const std::string name = file.empty() ? kUsualFile : file;
  void* const handle = ::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (handle == nullptr) {
    problem = fmt::format(
        "libpmix cannot be loaded ({}): install it (Debian: libpmix2), or name the launcher's own with "
        "AQUEDUCT_PMIX_LIBRARY=/path/libpmix.so.2",
        ::dlerror());
    return nullptr;
  }
  auto found = std::make_shared<PmixLibrary>();
  std::string missing;
  find(handle, "PMIx_Init", found->init, missing);
  find(handle, "PMIx_Finalize", found->finalize, missing);
  find(handle, "PMIx_Initialized", found->initialized, missing);
  find(handle, "PMIx_Abort", found->abort, missing);
  find(handle, "PMIx_Put", found->put, missing);
  find(handle, "PMIx_Commit", found->commit, missing);
  find(handle, "PMIx_Fence_nb", found->fence_nb, missing);
  find(handle, "PMIx_Get_nb", found->get_nb, missing);
  find(handle, "PMIx_Register_event_handler", found->register_event_handler, missing);
  find(handle, "PMIx_Deregister_event_handler", found->deregister_event_handler, missing);
  find(handle, "PMIx_Error_string", found->error_string, missing);
  find(handle, "PMIx_Get_version", found->get_version, missing);
  if (!missing.empty()) {
    problem = fmt::format(
        "{} is not a libpmix that Aqueduct can use: it lacks {}. Install a version from 3 to 5, or name "
        "another library with AQUEDUCT_PMIX_LIBRARY",
        name, missing);
    return nullptr;
  }
  found->file = name;
  return found;
}

pmix_info_t info_of(const char* key) {
  pmix_info_t info{};
  std::strncpy(info.key, key, PMIX_MAX_KEYLEN);
  return info;
}

}  // namespace aqueduct::bootstrap
