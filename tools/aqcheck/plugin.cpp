#include "tools/aqcheck/plugin.hpp"

#include <fmt/format.h>

#include <dlfcn.h>

namespace aqueduct::aqcheck {

std::string add_algorithms_of(const std::string& file, Config& config) {
  void* const handle = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (handle == nullptr) return fmt::format("{} cannot be loaded: {}", file, ::dlerror());
  const auto add = reinterpret_cast<void (*)(Config&)>(::dlsym(handle, kAlgorithmsFunction));
  if (add == nullptr)
    return fmt::format("{} has no function `extern \"C\" void {}(aqueduct::Config&)`", file,
                       kAlgorithmsFunction);
  const std::size_t before = config.problems().size();
  add(config);
  if (config.problems().size() > before) return fmt::format("{}: {}", file, config.problems().back().text);
  if (config.added_algorithms() == nullptr) return fmt::format("{} adds no algorithm", file);
  return {};
}

}  // namespace aqueduct::aqcheck
