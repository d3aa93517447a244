#include "core/network_profile.hpp"

#include "core/json_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <fstream>

#include <sys/utsname.h>
#include <unistd.h>

namespace aqueduct::core {
namespace {

// The levels inside a host, the most distant one first.
constexpr std::array<std::string_view, 4> kInsideHost{"host", "domain", "cache", "core"};

bool is_level(std::string_view name) noexcept {
  for (const std::string_view known : kInsideHost) {
    if (known == name) return true;
  }
  return name == kBetweenHosts;
}

/// A whole number up to `most` among the members of an object. Writes to `problem` if there is none.
std::uint64_t member(const Json& object, const char* name, std::uint64_t most, std::string& problem) {
  const Json* const found = object.find(name);
  const auto number = found != nullptr ? found->whole() : std::nullopt;
  if (!number || *number > most) {
    if (problem.empty()) problem = fmt::format("'{}' is not a whole number from 0 to {}", name, most);
    return 0;
  }
  return *number;
}

constexpr std::uint64_t kMostTime =
    1'000'000'000'000'000;  // chosen: 1000 s, in picoseconds, and per byte 1 s
constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 50;

NetworkModel read_level(const Json& level, std::string& problem) {
  NetworkModel model;
  model.origin = NetworkModel::Origin::profile;
  model.injection_depth = static_cast<std::uint32_t>(member(level, "injection_depth", UINT32_MAX, problem));
  model.inline_limit = member(level, "inline_limit", kMostBytes, problem);
  model.peak_bytes = member(level, "peak_bytes", kMostBytes, problem);
  model.rendezvous_limit = member(level, "rendezvous_limit", kMostBytes, problem);
  model.copy_femtoseconds_per_byte = member(level, "copy_femtoseconds_per_byte", kMostTime, problem);
  model.reduce_femtoseconds_per_byte = member(level, "reduce_femtoseconds_per_byte", kMostTime, problem);
  if (level.find("turn_ps") != nullptr)  // only where ranks share a processor, and not in earlier profiles
    model.turn = Picoseconds(static_cast<std::int64_t>(member(level, "turn_ps", kMostTime, problem)));
  const Json* const costs = level.find("costs");
  if (costs == nullptr || costs->items.empty() || costs->items.size() > NetworkModel::kMostCosts) {
    if (problem.empty())
      problem = fmt::format("'costs' is not a list of 1 to {} sizes", NetworkModel::kMostCosts);
    return model;
  }
  model.sizes = 0;
  for (const Json& each : costs->items) {
    const auto time = [&](const char* name) {
      return Picoseconds(static_cast<std::int64_t>(member(each, name, kMostTime, problem)));
    };
    const bool has_interval = each.find("interval_ps") != nullptr;  // profiles of earlier versions have none
    NetworkCost cost;
    cost.bytes = member(each, "bytes", kMostBytes, problem);
    cost.latency = time("latency_ps");
    cost.overhead = time("overhead_ps");
    cost.gap = time("gap_ps");
    cost.femtoseconds_per_byte = member(each, "femtoseconds_per_byte", kMostTime, problem);
    if (has_interval) cost.interval = time("interval_ps");
    const bool rises = model.sizes == 0 ? cost.bytes == 0 : cost.bytes > model.by_size[model.sizes - 1].bytes;
    if (!rises && problem.empty()) problem = "'costs' does not begin with 0 bytes and rise";
    model.by_size[model.sizes++] = cost;
  }
  return model;
}

std::string processor_name() {
  std::ifstream cpus("/proc/cpuinfo");
  for (std::string line; std::getline(cpus, line);) {
    if (line.rfind("model name", 0) != 0) continue;
    const auto colon = line.find(": ");
    if (colon != std::string::npos) return line.substr(colon + 2);
  }
  utsname system{};
  return ::uname(&system) == 0 ? system.machine : "unknown processor";
}

}  // namespace

const NetworkModel* NetworkProfile::find(std::string_view level) const noexcept {
  for (const auto& [name, model] : levels) {
    if (name == level) return &model;
  }
  return nullptr;
}

const NetworkModel* NetworkProfile::between(bool same_host) const noexcept {
  if (!same_host) return find(kBetweenHosts);
  for (const std::string_view level : kInsideHost) {
    if (const NetworkModel* found = find(level)) return found;
  }
  return nullptr;
}

bool NetworkProfile::is_of_another(bool same_host) const noexcept {
  return between(same_host) == nullptr && std::ranges::any_of(of_others, [&](const std::string& level) {
           return (level != kBetweenHosts) == same_host;
         });
}

ProfileRead read_profile(std::string_view text, std::string_view machine, std::string_view conduit,
                         std::string_view network) {
  ProfileRead read;
  const JsonRead json = read_json(text);
  const auto refuse = [&](std::string why) {
    read.profile = {};
    read.problem = std::move(why);
    return read;
  };
  constexpr std::string_view kAgain = "measure again with `aqperf calibrate`";
  if (!json.problem.empty()) return refuse(fmt::format("it is damaged ({}); {}", json.problem, kAgain));
  const auto says = [&](const char* name) -> std::string {
    const Json* const found = json.value.find(name);
    return found != nullptr && found->kind == Json::Kind::text ? found->text : "";
  };
  if (says("format") != kProfileFormat)
    return refuse(fmt::format("it is no network profile: its member 'format' is not \"{}\"; {}",
                              kProfileFormat, kAgain));
  const Json* const version = json.value.find("version");
  const auto number = version != nullptr ? version->whole() : std::nullopt;
  if (!number) return refuse(fmt::format("it is damaged ('version' is no whole number); {}", kAgain));
  if (*number != kProfileVersion)
    return refuse(
        fmt::format("it has version {}, and this library reads {}; {}", *number, kProfileVersion, kAgain));
  const bool is_ours = says("machine") == machine;
  const auto refuse_machine = [&] {
    return refuse(fmt::format("it is of another machine (\"{}\", and this is \"{}\"); {} here",
                              says("machine"), machine, kAgain));
  };
  if (!is_ours && kind_of_machine(says("machine")) != kind_of_machine(machine)) return refuse_machine();
  if (says("conduit") != conduit)
    return refuse(fmt::format("it is of conduit {}, not of {}; {}", says("conduit"), conduit, kAgain));
  const Json* const levels = json.value.find("levels");
  if (levels == nullptr || levels->kind != Json::Kind::object)
    return refuse(fmt::format("it is damaged ('levels' is no object); {}", kAgain));
  bool any_level = false;
  for (std::size_t i = 0; i < levels->names.size(); ++i) {
    const std::string& name = levels->names[i];
    std::string problem;
    if (!is_level(name)) continue;  // of later libraries
    NetworkModel model = read_level(levels->items[i], problem);
    if (!problem.empty())
      return refuse(fmt::format("it is damaged (level {}: {}); {}", name, problem, kAgain));
    if (!is_ours && name != kBetweenHosts) continue;
    any_level = true;
    const Json* const over = levels->items[i].find("over");
    if (network.empty() || over == nullptr || over->text.empty() || over->text == network) {
      read.profile.levels.emplace_back(name, model);
    } else {
      read.profile.of_others.push_back(name);
      read.profile.other_network = over->text;
    }
  }
  if (!is_ours && !any_level) return refuse_machine();
  return read;
}

std::string machine_name() {
  std::array<char, 256> host{};
  if (::gethostname(host.data(), host.size() - 1) != 0) host[0] = '\0';
  const long processors = ::sysconf(_SC_NPROCESSORS_ONLN);
  return fmt::format("{}, {}, {} processors", host.data(), processor_name(), processors);
}

std::string_view kind_of_machine(std::string_view machine) noexcept {
  const std::size_t comma = machine.find(", ");
  return comma == std::string_view::npos ? machine : machine.substr(comma + 2);
}

bool is_profile_folder(const std::string& named) {
  std::error_code ignored;
  return !named.empty() && (named.back() == '/' || std::filesystem::is_directory(named, ignored));
}

std::string profile_file(std::string_view folder, std::string_view conduit, bool same_host) {
  // By a number, since the name of a machine may hold any characters; the same one wherever the library was built.
  const std::string machine = machine_name();
  std::uint32_t number = 0x811c9dc5;
  for (const char c : same_host ? std::string_view(machine) : kind_of_machine(machine))
    number = (number ^ static_cast<unsigned char>(c)) * 0x01000193u;
  std::string name;
  for (const char c : conduit.substr(conduit.rfind('/') + 1))  // a plug-in's may be a path
    name += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  const std::string_view slash = folder.empty() || folder.back() == '/' ? "" : "/";
  return fmt::format("{}{}network-{}-{:08x}.json", folder, slash, name, number);
}

NetworkModel default_network_model(std::string_view conduit, bool same_host) noexcept {
  struct Default {
    std::string_view conduit;
    bool same_host;
    std::int64_t latency, overhead, gap;  // nanoseconds
    std::uint64_t femtoseconds_per_byte;
  };
  // Orders of magnitude, for machines on which nothing was measured. Chosen after docs/performance.md (smp, udp: a round
  // trip halved, bandwidths), and for adapters after what their makers specify for 100 Gbit/s.
  static constexpr std::array kDefaults{
      Default{"smp", true, 100, 20, 20, 100'000},
      Default{"loop", true, 500, 200, 200, 150'000},
      Default{"udp", true, 6'000, 2'000, 2'000, 300'000},
      Default{"udp", false, 15'000, 2'000, 2'000, 900'000},
      Default{"ibv", false, 1'500, 200, 50, 80'000},
      Default{"ofi", false, 2'000, 400, 100, 80'000},
      Default{"ucx", false, 2'000, 400, 100, 80'000},
  };
  const Default* found = nullptr;
  for (const Default& each : kDefaults) {
    if (each.conduit != conduit) continue;
    if (found == nullptr || each.same_host == same_host) found = &each;
  }
  static constexpr Default kOther{"", false, 5'000, 1'000, 500, 200'000};
  if (found == nullptr) found = &kOther;
  const auto time = [](std::int64_t nanoseconds) { return Picoseconds(nanoseconds * 1000); };
  NetworkModel model;
  model.by_size[0] = {0, time(found->latency), time(found->overhead), time(found->gap),
                      found->femtoseconds_per_byte};
  model.peak_bytes = 64 << 10;
  model.copy_femtoseconds_per_byte = 100'000;
  model.reduce_femtoseconds_per_byte = 200'000;
  return model;
}

}  // namespace aqueduct::core
