#include "conduits/all.hpp"

#include "conduits/builtin.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <mutex>

#include <dlfcn.h>

namespace aqueduct::conduits {
namespace {

Available compiled_in(const core::ConduitEntry* entry) {
  Available found;
  found.name = entry->name;
  found.entry = entry;
  return found;
}

Available load_plugin(const std::string& file) {
  Available found;
  found.name = std::filesystem::path(file).stem();
  found.file = file;
  // Never unloaded: the libraries that a conduit uses have threads.
  void* const handle = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (handle == nullptr) {
    found.problem = fmt::format("{} cannot be loaded: {}", file, ::dlerror());
    found.code = ErrorCode::bad_setting;
    return found;
  }
  const auto get = reinterpret_cast<core::ConduitEntryFunction>(::dlsym(handle, core::kPluginSymbol));
  const core::ConduitEntry* const entry = get != nullptr ? get() : nullptr;
  if (entry == nullptr) {
    found.problem = fmt::format("{} is not a conduit: it exports no {}()", file, core::kPluginSymbol);
    found.code = ErrorCode::bad_setting;
    return found;
  }
  if (entry->interface_version != core::kConduitInterface) {
    found.problem = fmt::format(
        "{} was built for conduit interface {}, this library has {}: build it against this version", file,
        entry->interface_version, core::kConduitInterface);
    found.code = ErrorCode::version_mismatch;
    return found;
  }
  found.name = entry->name;
  found.entry = entry;
  return found;
}

/// Shared objects are loaded into the process, once. So this table is per process too, and only grows.
struct ByPath {
  std::mutex mutex;
  std::map<std::string, Available> plugins;
};
ByPath& by_path() {
  static ByPath known;
  return known;
}

const std::vector<Available>& compiled_in_ones() {
  static const std::vector<Available> found = [] {
    std::vector<Available> own;
    for (const core::ConduitEntry* entry : builtin()) own.push_back(compiled_in(entry));
    return own;
  }();
  return found;
}

std::vector<Available> look_for_all() {
  std::vector<Available> found = compiled_in_ones();
  for (const std::string& folder : plugin_folders()) {
    std::vector<std::string> files;
    std::error_code none;
    const std::filesystem::directory_iterator end;
    for (std::filesystem::directory_iterator file(folder, none); !none && file != end; file.increment(none)) {
      if (file->path().extension() == ".so") files.push_back(file->path());
    }
    std::ranges::sort(files);  // a directory lists files in any order
    for (const std::string& file : files) {
      Available plugin = load_plugin(file);
      const auto same = [&](const Available& other) { return other.name == plugin.name; };
      if (std::ranges::none_of(found, same)) found.push_back(std::move(plugin));
    }
  }
  return found;
}

}  // namespace

const std::vector<Available>& all() {
  static const std::vector<Available> found = look_for_all();
  return found;
}

bool is_path(std::string_view name_or_path) noexcept {
  return name_or_path.find('/') != std::string_view::npos;
}

const Available* find(std::string_view name_or_path) {
  if (is_path(name_or_path)) return &at_path(std::string(name_or_path));
  for (auto* list : {&compiled_in_ones, &all}) {
    for (const Available& one : (*list)()) {
      if (one.name == name_or_path) return &one;
    }
  }
  return nullptr;
}

std::string names() {
  std::string text;
  for (const Available& one : all()) text += (text.empty() ? "" : ", ") + one.name;
  return text;
}

core::NearestName nearest(std::string_view word) {
  core::NearestName found(word);
  for (const Available& one : all()) found.offer(one.name);
  return found;
}

const Available& at_path(const std::string& file) {
  ByPath& known = by_path();
  const std::lock_guard lock(known.mutex);
  const auto found = known.plugins.find(file);
  return found != known.plugins.end() ? found->second
                                      : known.plugins.emplace(file, load_plugin(file)).first->second;
}

std::vector<const Available*> known_by_path() {
  ByPath& known = by_path();
  const std::lock_guard lock(known.mutex);
  std::vector<const Available*> all;
  for (const auto& [file, plugin] : known.plugins) all.push_back(&plugin);
  return all;
}

}  // namespace aqueduct::conduits
