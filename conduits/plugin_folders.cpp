#include "conduits/all.hpp"

#include <link.h>

#include <cstdlib>
#include <filesystem>
#include <system_error>

#include <dlfcn.h>

namespace aqueduct::conduits {
namespace {

// In an installation: the build defines the libraries' folder below the prefix, and the plug-ins' folder below that.
constexpr const char* kLibraries = AQUEDUCT_LIBRARY_FOLDER;
constexpr const char* kPlugins = AQUEDUCT_PLUGIN_FOLDER;

/// The folder of the shared library, or of the program that this code was linked into.
std::filesystem::path own_folder() {
  Dl_info where{};
  void* object = nullptr;
  if (::dladdr1(reinterpret_cast<void*>(&plugin_folders), &where, &object, RTLD_DL_LINKMAP) == 0) return {};
  // For the program itself the loader has no name, and dladdr gives argv[0], which may be anything.
  const char* const name = static_cast<const link_map*>(object)->l_name;
  std::error_code none;
  return std::filesystem::canonical(name == nullptr || *name == '\0' ? "/proc/self/exe" : name, none)
      .parent_path();
}

}  // namespace

std::vector<std::string> plugin_folders() {
  std::vector<std::string> folders;
  // A program with more rights than its user (setuid) loads nothing that the user names.
  if (const char* const path = ::secure_getenv("AQUEDUCT_PLUGIN_PATH"); path != nullptr) {
    std::string_view rest = path;
    while (!rest.empty()) {
      const auto colon = rest.find(':');
      if (colon != 0) folders.emplace_back(rest.substr(0, colon));
      rest = colon == std::string_view::npos ? std::string_view{} : rest.substr(colon + 1);
    }
  }
  if (const auto own = own_folder(); !own.empty()) {
    folders.push_back(own / kPlugins);                             // when this code is in the shared library
    folders.push_back(own.parent_path() / kLibraries / kPlugins);  // when this code is linked into a program
    if (folders.back() == folders[folders.size() - 2]) folders.pop_back();
  }
  return folders;
}

}  // namespace aqueduct::conduits
