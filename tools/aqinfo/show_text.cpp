#include <aqueduct/version.hpp>

#include "core/readable.hpp"
#include "core/settings.hpp"
#include "tools/aqinfo/show.hpp"
#include "tools/aqinfo/words.hpp"

#include <fmt/format.h>

namespace aqueduct::aqinfo {
namespace {

constexpr std::size_t kLabel = 16;

void line(std::string& out, std::string_view label, std::string_view text) {
  out += fmt::format("  {:<{}}", label, kLabel);
  out += wrapped(core::readable(text), 2 + kLabel) + "\n";
}

std::string yes_or_no(bool yes) { return yes ? "yes" : "no"; }

void show(std::string& out, const Machine& machine) {
  out += "Machine\n";
  line(out, "host", fmt::format("{}, {}", machine.hostname, machine.system));
  line(out, "cores", fmt::format("{}, {} usable by this process", machine.cores, machine.cores_usable));
  line(out, "memory",
       fmt::format("{}, {} available; a process may lock {}", size_text(machine.memory),
                   size_text(machine.memory_available),
                   machine.lockable == UINT64_MAX ? "all" : size_text(machine.lockable)));
  line(out, "/dev/shm", fmt::format("{}, {} free", size_text(machine.shm), size_text(machine.shm_free)));
  const auto or_unknown = [](const std::string& word) { return word.empty() ? "unknown" : word; };
  line(out, "pages",
       fmt::format("{}; transparent huge pages: {} (shared memory: {})", size_text(machine.page_bytes),
                   or_unknown(machine.transparent_huge_pages),
                   or_unknown(machine.transparent_huge_pages_shared)));
  for (const HugePages& pages : machine.huge_pages) {
    line(out, "",
         fmt::format("huge pages of {}: {} reserved, {} free", size_text(pages.page_bytes), pages.pages,
                     pages.free));
  }
  out += "\n";
}

std::string ordered_text(const core::Properties& properties) {
  if (!properties.put_before_send || properties.max_ordered == SIZE_MAX) {
    return yes_or_no(properties.put_before_send);
  }
  return fmt::format("up to {} bytes", properties.max_ordered);
}

std::string_view words_text(core::WholeWords words) {
  switch (words) {
    case core::WholeWords::none: return "none";
    case core::WholeWords::puts: return "puts";
    case core::WholeWords::puts_and_gets: return "puts and gets";
  }
  return "";
}

void show(std::string& out, const core::Properties& properties) {
  if (!properties.network.empty()) line(out, "network", properties.network + " (of a job on this host)");
  line(out, "limits",
       fmt::format("packet {} bytes, native transfer {}, inject {} bytes", properties.max_packet,
                   properties.max_transfer == 0 ? "none" : size_text(properties.max_transfer),
                   properties.max_inject));
  line(out, "properties",
       fmt::format("put before send: {} · put before put: {} · send before send: {} · concurrent posts: {} · "
                   "reports lost peers: {} · send copies: {} · through sockets: {}",
                   ordered_text(properties), yes_or_no(properties.put_before_put),
                   yes_or_no(properties.send_before_send), yes_or_no(properties.concurrent_posts),
                   yes_or_no(properties.reports_lost_peers), yes_or_no(properties.copies),
                   yes_or_no(properties.through_sockets)));
  if (properties.max_transfer != 0) line(out, "whole words", std::string(words_text(properties.whole_words)));
}

void show(std::string& out, const ConduitFacts& facts) {
  out += wrapped(fmt::format("Conduit {}: {}", facts.name, facts.summary), 0) + "\n";
  line(out, "usable", fmt::format("{}: {}", yes_or_no(facts.usability.usable), facts.usability.why));
  if (!facts.plugin.empty()) line(out, "plug-in", facts.plugin);
  line(out, "crosses hosts", yes_or_no(facts.crosses_hosts));
  if (facts.properties) show(out, *facts.properties);
  for (const Capability& one : facts.capabilities) {
    line(out, one.name, one.native ? "native" : fmt::format("reference: {}", one.otherwise));
  }
  for (const std::string& note : facts.notes) line(out, "note", note);
  out += "\n";
}

void show(std::string& out, std::string_view label, const ChosenConduit& choice) {
  const std::string_view conduit = choice.conduit.empty() ? "none" : std::string_view(choice.conduit);
  line(out, label, fmt::format("{}: {}", conduit, choice.why));
  for (const runtime::PassedOver& one : choice.passed_over) {
    line(out, "", fmt::format("not {}: {}", one.name, one.why));
  }
}

void show(std::string& out, const LauncherFacts& launcher) {
  out += "Launcher\n";
  line(out, "started by", fmt::format("{}: {}", launcher.name, launcher.why));
  line(out, "PMIx", launcher.pmix);
  out += "\n";
}

std::string setting_line(std::string_view variable, std::string_view value, std::string_view unit,
                         std::string_view standard, std::string_view origin) {
  return fmt::format("  {:<29} {:<15} {:<9} {:<13} {}\n", variable, value, unit, standard, origin);
}

void show(std::string& out, const SettingInfo& info, const Config& config) {
  const std::string value = core::quoted(config.text(info.name));
  const auto or_dash = [](std::string_view word) { return word.empty() ? "-" : word; };
  out += setting_line(info.environment, or_dash(value), or_dash(info.unit), or_dash(info.default_value),
                      word_for(config.origin(info.name)));
  const std::string allowed = info.type == SettingType::text ? "" : core::allowed_values(info);
  const std::string more = allowed.empty() ? "" : fmt::format(" Allowed: {}.", allowed);
  out += "      " + wrapped(std::string(info.help) + more, 6) + "\n";
}

}  // namespace

std::string as_text(const Facts& facts) {
  std::string out = fmt::format("Aqueduct {}\n\n", library_version_text());
  show(out, facts.machine);
  show(out, facts.launcher);
  for (const ConduitFacts& conduit : facts.conduits) show(out, conduit);
  std::string folders;
  for (const std::string& folder : facts.plugin_folders) folders += (folders.empty() ? "" : ", ") + folder;
  out += "Plug-ins\n";
  line(out, "looked for in", folders);
  out += "\n";

  out += "A job started here would use\n";
  show(out, "on this host", facts.near);
  show(out, "to other hosts", facts.far);

  out += "\nSettings\n" + setting_line("variable", "value", "unit", "default", "origin");
  for (const SettingInfo& info : facts.config.settings()) show(out, info, facts.config);

  if (facts.config.problems().empty()) return out + "\nNo problems with settings.\n";
  out += "\nProblems: no job starts until these are fixed\n";
  for (const SettingProblem& problem : facts.config.problems()) out += "  " + wrapped(problem.text, 2) + "\n";
  return out;
}

std::string errors_as_text() {
  std::string out = fmt::format("{:>4}  {:>4}  {:<18}meaning; what to try\n", "code", "exit", "name");
  for (const ErrorInfo& info : errors()) {
    const int code = static_cast<int>(info.code);
    out += fmt::format("{:>4}  {:>4}  {:<18}", code, Status(info.code).exit_code(), info.name);
    out += wrapped(fmt::format("{}; {}", info.meaning, info.advice), 30) + "\n";
  }
  return out;
}

}  // namespace aqueduct::aqinfo
