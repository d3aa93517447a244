#include "c/convert.hpp"

#include <string>

using namespace aqueduct;

namespace aqueduct::c {
namespace {

const Config& whole_config(const aq_config* config) noexcept {
  return *reinterpret_cast<const Config*>(config);
}

template <class F>
aq_config* made_by(F make) noexcept {
  try {
    return reinterpret_cast<aq_config*>(new Config(make()));
  } catch (...) {
    return nullptr;
  }
}

/// Null if there is no such setting.
const SettingInfo* find_setting(const Config& config, const char* name) noexcept {
  if (name == nullptr) return nullptr;
  for (const SettingInfo& info : config.settings()) {
    if (info.name == std::string_view(name)) return &info;
  }
  return nullptr;
}

}  // namespace
}  // namespace aqueduct::c

aq_config* aq_config_create(void) {
  return c::made_by([] { return Config(); });
}
aq_config* aq_config_from_environment(void) {
  return c::made_by([] { return Config::from_environment(); });
}
void aq_config_destroy(aq_config* config) { delete reinterpret_cast<Config*>(config); }

aq_status aq_config_set(aq_config* config, const char* name, const char* value) {
  if (c::lacks("aq_config_set", {{"config", config}})) return c::plain(ErrorCode::invalid_argument);
  if (name == nullptr || value == nullptr) return c::plain(ErrorCode::bad_setting);
  return c::guarded([&] { return reinterpret_cast<Config*>(config)->set(name, value); });
}
aq_status aq_config_set_threads(aq_config* config, int threads) {
  if (c::lacks("aq_config_set_threads", {{"config", config}})) return c::plain(ErrorCode::invalid_argument);
  if (threads < AQ_THREADS_SINGLE || threads > AQ_THREADS_MULTIPLE)
    return c::plain(ErrorCode::invalid_argument);
  return c::guarded([&] { return reinterpret_cast<Config*>(config)->set(static_cast<Threads>(threads)); });
}

size_t aq_config_text(const aq_config* config, const char* name, char* text, size_t bytes) {
  if (c::lacks("aq_config_text", {{"config", config}})) return c::copy_text({}, text, bytes);
  const Config& whole = c::whole_config(config);
  try {
    if (c::find_setting(whole, name) != nullptr) return c::copy_text(whole.text(name), text, bytes);
  } catch (...) {
    // no memory for the text: as if there were none
  }
  return c::copy_text({}, text, bytes);
}
aq_status aq_config_number(const aq_config* config, const char* name, int64_t* value) {
  if (c::lacks("aq_config_number", {{"config", config}, {"value", value}}))
    return c::plain(ErrorCode::invalid_argument);
  return c::guarded([&]() -> Status {
    const Config& whole = c::whole_config(config);
    const SettingInfo* const info = c::find_setting(whole, name);
    if (info == nullptr) return ErrorCode::bad_setting;
    switch (info->type) {
      case SettingType::boolean: *value = whole.flag(name) ? 1 : 0; return {};
      case SettingType::duration: *value = whole.nanoseconds(name); return {};
      case SettingType::number:
      case SettingType::bytes: *value = whole.number(name); return {};
      case SettingType::text:
      case SettingType::choice: break;
    }
    return ErrorCode::bad_setting;
  });
}

size_t aq_config_problems(const aq_config* config) {
  if (c::lacks("aq_config_problems", {{"config", config}})) return 0;
  return c::whole_config(config).problems().size();
}
size_t aq_config_problem_text(const aq_config* config, size_t index, char* text, size_t bytes) {
  if (c::lacks("aq_config_problem_text", {{"config", config}})) return c::copy_text({}, text, bytes);
  const auto& problems = c::whole_config(config).problems();
  return c::copy_text(index < problems.size() ? std::string_view(problems[index].text) : "", text, bytes);
}
