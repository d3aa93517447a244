#include "runtime/choice.hpp"

#include "conduits/builtin.hpp"

#include <string_view>

namespace aqueduct::runtime {
namespace {

using core::ConduitEntry;

const ConduitEntry* find(std::string_view name) {
  for (const ConduitEntry* entry : conduits::builtin()) {
    if (name == entry->name) return entry;
  }
  return nullptr;
}

const ConduitEntry* first_that_crosses(const Config& config) {
  for (const ConduitEntry* entry : conduits::builtin()) {
    if (entry->crosses_hosts && entry->probe(config).usable) return entry;
  }
  return nullptr;
}

std::string names() {
  std::string all = "auto";
  for (const ConduitEntry* entry : conduits::builtin()) all += std::string(", ") + entry->name;
  return all + ", or the path of a plug-in";
}

std::string names_that_cross() {
  std::string all;
  for (const ConduitEntry* entry : conduits::builtin()) {
    if (entry->crosses_hosts) all += std::string(all.empty() ? "" : ", ") + entry->name;
  }
  return all;
}

}  // namespace

Result<Choice> choose_conduits(const Config& config, Circumstances job, core::Log& log) {
  const std::string wanted = config.text("conduit");
  const ConduitEntry* smp = find("smp");
  Choice choice;
  const bool near_on = config.flag("near");
  if (wanted != "auto") {
    const ConduitEntry* named = find(wanted);
    if (wanted.find('/') != std::string::npos) {
      auto loaded = load_plugin(wanted, log);
      if (!loaded) return loaded.status();
      named = loaded->first;
      choice.plugin = loaded->second;
    }
    if (named == nullptr) {
      log.error("AQUEDUCT_CONDUIT={} is not a conduit of this build; there are {}", wanted, names());
      return ErrorCode::bad_setting;
    }
    if (const auto found = named->probe(config); !found.usable) {
      log.error("conduit {} cannot be used here: {}", named->name, found.why);
      return ErrorCode::not_supported;
    }
    choice.why = "AQUEDUCT_CONDUIT asks for it";
    if (named == smp) {
      choice.near = smp;
    } else {
      choice.far = named;
      // A conduit that stays on one host is there to serve all of it; one that crosses hosts leaves each host to smp.
      if (named->crosses_hosts && near_on) choice.near = smp;
    }
  } else if (near_on) {
    choice.near = smp;
    choice.why = "all ranks share this host";
    if (!job.one_host) {
      choice.far = first_that_crosses(config);
      choice.why = "smp inside a host, the best usable conduit between hosts";
    }
  } else {
    choice.far = first_that_crosses(config);
    if (choice.far == nullptr && job.one_process) choice.far = find("loop");
    choice.why = "AQUEDUCT_NEAR=off: one conduit for everybody";
  }
  const ConduitEntry* named = wanted == "auto" ? nullptr : choice.far != nullptr ? choice.far : choice.near;
  if (named != nullptr && !named->crosses_hosts && !job.one_host) {
    log.error(
        "AQUEDUCT_CONDUIT={} serves ranks of one host only, and this job's are on several: leave it out, "
        "which "
        "takes smp inside each host and the best conduit between them, or name one that crosses hosts ({})",
        wanted, names_that_cross());
    return ErrorCode::not_supported;
  }
  const bool lacks_far = !job.one_host && (choice.far == nullptr || !choice.far->crosses_hosts);
  if (lacks_far || (choice.near == nullptr && choice.far == nullptr)) {
    log.error(
        "no conduit can serve this job: {}; this build has {}, and needs one that {}. Start all ranks on one "
        "host{}",
        job.one_host ? "its ranks share a host" : "its ranks are on several hosts", names(),
        job.one_host ? "serves several processes with AQUEDUCT_NEAR=off" : "crosses hosts",
        job.one_host ? " with AQUEDUCT_NEAR=on" : "");
    return ErrorCode::not_supported;
  }
  if (choice.near != nullptr && choice.far == nullptr) {
    if (const auto found = choice.near->probe(config); !found.usable) {
      log.error("conduit {} cannot be used here: {}", choice.near->name, found.why);
      return ErrorCode::not_supported;
    }
  }
  return choice;
}

}  // namespace aqueduct::runtime
