#include "tools/aqinfo/facts.hpp"

#include "bootstrap/launcher.hpp"
#include "bootstrap/pmix.hpp"
#include "conduits/registry.hpp"
#include "core/log.hpp"

#include <fmt/core.h>

#include <utility>

#include <unistd.h>

namespace aqueduct::aqinfo {
namespace {

/// In the order of docs/write-a-conduit.md, "What a conduit may offer", as far as aqinfo shows them.
std::vector<Capability> capabilities_of(core::Conduit& conduit) {
  return {
      {"rma", conduit.rma() != nullptr, "by active messages, in pieces of one packet each"},
      {"signal", conduit.signal() != nullptr,
       "in the put's packet if there is only one, else by a message after the put"},
      {"cross_map", conduit.cross_map() != nullptr, "everything goes over the wire"},
      {"vector", conduit.vector() != nullptr, "piece by piece, or packed"},
      {"atomics", conduit.atomics() != nullptr, "by the owner's processor"},
      {"collectives", conduit.collectives() != nullptr, "schedules over rma and active messages"},
      {"waitable", conduit.waitable() != nullptr, "waits spin, yield, then sleep"},
  };
}

/// Opens one endpoint in a job of one rank and connects it to itself, because some limits are known only then.
Status try_out(const core::ConduitEntry& entry, const core::Process& process, ConduitFacts& facts) {
  const Result<std::unique_ptr<core::Network>> network = entry.make(process);
  if (!network) return network.status();
  const Result<std::unique_ptr<core::Conduit>> conduit = (*network)->open(0);
  if (!conduit) return conduit.status();
  const std::vector<std::vector<std::byte>> addresses{(*conduit)->address()};
  if (const Status connected = (*conduit)->connect(addresses); !connected) return connected;
  facts.properties = (*conduit)->properties();
  facts.capabilities = capabilities_of(**conduit);
  return {};
}

ConduitFacts look_at(const conduits::Available& conduit, const Config& config) {
  ConduitFacts facts;
  facts.name = conduit.name;
  facts.plugin = conduit.file;
  if (conduit.entry == nullptr) {
    facts.summary = "a plug-in that cannot be loaded";
    facts.usability = {false, conduit.problem};
    return facts;
  }
  const core::ConduitEntry& entry = *conduit.entry;
  facts.summary = entry.summary;
  facts.crosses_hosts = entry.crosses_hosts;
  facts.usability = entry.probe(config);
  if (!facts.usability.usable) return facts;

  core::Log log(core::LogLevel::warn,
                [&](core::LogLevel, std::string_view line) { facts.notes.emplace_back(line); });
  core::Process process;
  process.config = &config;
  process.log = &log;
  process.job = static_cast<std::uint64_t>(getpid());  // no other process of this host has this number now
  process.ranks = 1;
  process.mine = {0};
  process.host = {0};
  if (const Status status = try_out(entry, process, facts); !status) {
    facts.usability = {false, fmt::format("an endpoint could not be opened: {}", status.text())};
  }
  return facts;
}

/// The conduit that the runtime would choose for a job of several processes, or why it would refuse the job.
ChosenConduit choose(const Config& config, bool one_host) {
  std::string refusal;
  core::Log log(core::LogLevel::error, [&](core::LogLevel, std::string_view line) { refusal = line; });
  const auto chosen = runtime::choose_conduits(config, {.one_host = one_host, .one_process = false}, log);
  if (!chosen) return {"", refusal.empty() ? chosen.status().text() : refusal, {}};
  const bool near = one_host && chosen->near != nullptr;
  return {(near ? chosen->near : chosen->far)->name, chosen->why, chosen->passed_over};
}

LauncherFacts look_at_launcher(const Config& config) {
  const auto launch = bootstrap::find_launcher(config.text("launcher"), bootstrap::environment_variable);
  const std::string why = launch.doubt.empty() ? launch.why : launch.why + "; " + launch.doubt;
  return {bootstrap::word_for(launch.by), why, bootstrap::describe_pmix(config.text("pmix_library"))};
}

}  // namespace

Facts gather(const Config& config) {
  Facts facts{config, look_at_machine(), look_at_launcher(config), conduits::plugin_folders(), {}, {}, {}};
  for (const conduits::Available& conduit : conduits::all()) {
    facts.conduits.push_back(look_at(conduit, config));
  }
  facts.near = choose(config, /*one_host=*/true);
  facts.far = choose(config, /*one_host=*/false);
  return facts;
}

bool goes_through_sockets(const Config& config) {
  const std::string far = choose(config, /*one_host=*/false).conduit;
  for (const conduits::Available& conduit : conduits::all()) {
    if (conduit.name != far) continue;
    const ConduitFacts facts = look_at(conduit, config);
    return facts.properties && facts.properties->through_sockets;
  }
  return false;
}

}  // namespace aqueduct::aqinfo
