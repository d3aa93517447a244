#include <aqueduct/version.hpp>

#include "core/settings.hpp"
#include "tools/aqinfo/show.hpp"

#include <nlohmann/json.hpp>

namespace aqueduct::aqinfo {
namespace {

using Json = nlohmann::ordered_json;

/// Host names and setting values may contain any bytes; invalid UTF-8 is replaced by U+FFFD.
std::string dump(const Json& json) { return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n"; }

Json or_null(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

Json json_of(const Machine& machine) {
  Json huge = Json::array();
  for (const HugePages& pages : machine.huge_pages) {
    huge.push_back({{"page_bytes", pages.page_bytes}, {"pages", pages.pages}, {"free", pages.free}});
  }
  return {
      {"hostname", machine.hostname},
      {"system", machine.system},
      {"cores", machine.cores},
      {"cores_usable", machine.cores_usable},
      {"memory_bytes", machine.memory},
      {"memory_available_bytes", machine.memory_available},
      {"lockable_bytes", machine.lockable == UINT64_MAX ? Json(nullptr) : Json(machine.lockable)},
      {"shm_bytes", machine.shm},
      {"shm_free_bytes", machine.shm_free},
      {"page_bytes", machine.page_bytes},
      {"transparent_huge_pages", or_null(machine.transparent_huge_pages)},
      {"transparent_huge_pages_shared", or_null(machine.transparent_huge_pages_shared)},
      {"huge_pages", std::move(huge)},
  };
}

Json json_of(const core::Properties& properties) {
  return {
      {"network", properties.network},
      {"max_packet", properties.max_packet},
      {"max_transfer", properties.max_transfer},
      {"max_inject", properties.max_inject},
      {"put_before_send", properties.put_before_send},
      {"put_before_put", properties.put_before_put},
      {"send_before_send", properties.send_before_send},
      {"max_ordered", properties.max_ordered == SIZE_MAX ? Json() : Json(properties.max_ordered)},
      {"concurrent_posts", properties.concurrent_posts},
      {"reports_lost_peers", properties.reports_lost_peers},
      {"whole_word_puts", properties.whole_words >= core::WholeWords::puts},
      {"whole_word_gets", properties.whole_words >= core::WholeWords::puts_and_gets},
      {"copies", properties.copies},
      {"through_sockets", properties.through_sockets},
  };
}

Json json_of(const ConduitFacts& facts) {
  Json parts = Json::object();
  for (const Capability& one : facts.capabilities)
    parts[std::string(one.name)] = one.native ? "native" : "reference";
  return {
      {"name", facts.name},
      {"summary", facts.summary},
      {"crosses_hosts", facts.crosses_hosts},
      {"plugin", or_null(facts.plugin)},
      {"usable", facts.usability.usable},
      {"why", facts.usability.why},
      {"limits", facts.properties ? json_of(*facts.properties) : Json(nullptr)},
      {"parts", facts.properties ? std::move(parts) : Json(nullptr)},
      {"notes", facts.notes},
  };
}

Json json_of(const ChosenConduit& choice) {
  Json others = Json::array();
  for (const runtime::PassedOver& one : choice.passed_over) {
    others.push_back({{"conduit", one.name}, {"why", one.why}});
  }
  return {{"conduit", or_null(choice.conduit)}, {"why", choice.why}, {"passed_over", std::move(others)}};
}

Json json_of(const SettingInfo& info, const Config& config) {
  return {
      {"name", info.name},
      {"variable", info.environment},
      {"type", word_for(info.type)},
      {"unit", info.unit.empty() ? Json(nullptr) : Json(info.unit)},
      {"value", config.text(info.name)},
      {"default", info.default_value},
      {"origin", word_for(config.origin(info.name))},
      {"allowed", core::allowed_values(info)},
      {"help", info.help},
  };
}

}  // namespace

std::string as_json(const Facts& facts) {
  Json conduits = Json::array();
  for (const ConduitFacts& conduit : facts.conduits) conduits.push_back(json_of(conduit));
  Json settings = Json::array();
  for (const SettingInfo& info : facts.config.settings()) settings.push_back(json_of(info, facts.config));
  Json problems = Json::array();
  for (const SettingProblem& problem : facts.config.problems()) {
    problems.push_back({{"variable", problem.variable}, {"text", problem.text}});
  }
  return dump({
      {"version", library_version_text()},
      {"machine", json_of(facts.machine)},
      {"launcher",
       {{"name", facts.launcher.name}, {"why", facts.launcher.why}, {"pmix", facts.launcher.pmix}}},
      {"plugin_folders", facts.plugin_folders},
      {"conduits", std::move(conduits)},
      {"choice", {{"near", json_of(facts.near)}, {"far", json_of(facts.far)}}},
      {"settings", std::move(settings)},
      {"problems", std::move(problems)},
  });
}

std::string errors_as_json() {
  Json all = Json::array();
  for (const ErrorInfo& info : errors()) {
    all.push_back({{"code", static_cast<int>(info.code)},
                   {"name", info.name},
                   {"exit_code", Status(info.code).exit_code()},
                   {"meaning", info.meaning},
                   {"advice", info.advice}});
  }
  Json object;
  object["errors"] = std::move(all);
  return dump(object);
}

}  // namespace aqueduct::aqinfo
