#include "runtime/choice.hpp"

#include "conduits/registry.hpp"
#include "runtime/far_choice.hpp"

#include <string_view>

namespace aqueduct::runtime {
namespace {

using conduits::Available;
using core::ConduitEntry;

const ConduitEntry* entry_of(std::string_view name) {
  const Available* found = conduits::find(name);
  return found != nullptr ? found->entry : nullptr;
}

std::string names() { return "auto, " + conduits::names() + ", or the path of a plug-in"; }

std::string names_that_cross() {
  std::string all;
  for (const Available& one : conduits::all()) {
    if (one.entry != nullptr && one.entry->crosses_hosts) all += (all.empty() ? "" : ", ") + one.name;
  }
  return all;
}

/// The conduit that AQUEDUCT_CONDUIT names, if it can be used.
Result<const ConduitEntry*> named_conduit(const std::string& wanted, const Config& config, core::Log& log) {
  const Available* named = conduits::find(wanted);
  if (named == nullptr) {
    log.error("AQUEDUCT_CONDUIT={} is not a conduit of this build; there are {}", wanted, names());
    return ErrorCode::bad_setting;
  }
  if (named->entry == nullptr) {
    log.error("AQUEDUCT_CONDUIT={}: {}", wanted, named->problem);
    return named->code;
  }
  if (const auto found = named->entry->probe(config); !found.usable) {
    log.error("conduit {} cannot be used here: {}", named->name, found.why);
    return ErrorCode::not_supported;
  }
  return named->entry;
}

}  // namespace

Result<ConduitChoice> choose_conduits(const Config& config, const Circumstances& job, core::Log& log) {
  const std::string wanted = config.text("conduit");
  const ConduitEntry* smp = entry_of("smp");
  ConduitChoice choice;
  const bool near_on = config.flag("near");
  if (wanted != "auto") {
    const auto named = named_conduit(wanted, config, log);
    if (!named) return named.status();
    choice.why = "AQUEDUCT_CONDUIT asks for it";
    if (*named == smp) {
      choice.near = smp;
    } else {
      choice.far = *named;
      // A user who names a conduit that does not cross hosts wants it for the whole job. Beside a conduit that crosses
      // hosts, smp serves the ranks of each host.
      if (choice.far->crosses_hosts && near_on) choice.near = smp;
    }
  } else {
    if (near_on) choice.near = smp;
    choice.why = near_on ? "all ranks share this host" : "AQUEDUCT_NEAR=off: one conduit for everybody";
    if (!job.one_host || !near_on) {
      auto far = choose_far(conduits::all(), config, job);
      if (!far) return far.status();
      choice.far = far->entry;
      choice.passed_over = std::move(far->passed_over);
      if (choice.far == nullptr && !near_on && job.one_process) choice.far = entry_of("loop");
      if (far->entry != nullptr)
        choice.why = (near_on ? "smp inside a host, " : choice.why + "; ") + far->why;
    }
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
    for (const PassedOver& one : choice.passed_over)
      log.error("conduit {} is passed over: {}", one.name, one.why);
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
