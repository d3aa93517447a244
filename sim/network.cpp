#include "sim/network_reader.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>

namespace aqueduct::sim {

namespace {

using nlohmann::json;

constexpr std::size_t kMostText = std::size_t{4} << 20;  // chosen: as of a tuning file

LinkSpeed read_speed(const json& value, std::string where, const LinkSpeed& usual) {
  NetworkReader reader(value, std::move(where));
  LinkSpeed speed = usual;
  speed.hop = reader.time("hop_us", static_cast<double>(usual.hop) / 1e6);
  speed.gap = reader.time("gap_us", static_cast<double>(usual.gap) / 1e6);
  speed.femtoseconds_per_byte =
      reader.per_byte("ns_per_byte", static_cast<double>(usual.femtoseconds_per_byte) / 1e6);
  reader.end();
  return speed;
}

struct Built {
  BuiltIn shown;
  const char* text;
};

// The links of the four with a topology: 100 Gbit/s, 0.1 us a switch; measured by nobody, chosen to be usual.
const std::vector<Built>& built() {
  static const std::vector<Built> all{
      {{"ideal", "no shared links; L 1 us, o 0.3 us, g 0.1 us, 10 GB/s"},
       R"({"version": 1, "levels": [{}]})"},
      {{"thesis", "the cluster of Nishtala's models: L 2 us, o 0.5 us, g 2 us, 1 GB/s"},
       R"({"version": 1, "levels": [{"latency_us": 2, "overhead_us": 0.5, "gap_us": 2, "ns_per_byte": 1}]})"},
      {{"two-level", "hosts of 16 ranks: L 0.2 us, o 0.05 us, 20 GB/s inside, as ideal between them"},
       R"({"version": 1, "levels": [{"ranks": 16, "latency_us": 0.2, "overhead_us": 0.05, "gap_us": 0.02, "ns_per_byte": 0.05}, {}], "ranks_per_host": 16})"},
      {{"crossbar", "hosts share nothing but their own links"},
       R"({"version": 1, "levels": [{}], "topology": {"kind": "crossbar"}, "host_link": {"hop_us": 0.05, "ns_per_byte": 0.08}})"},
      {{"fat-tree", "36-port switches, as many tiers as it takes"},
       R"({"version": 1, "levels": [{}], "topology": {"kind": "fat-tree"}, "host_link": {"hop_us": 0.05, "ns_per_byte": 0.08}, "link": {"hop_us": 0.1, "ns_per_byte": 0.08}, "packet": 16384})"},
      {{"torus", "three dimensions"},
       R"({"version": 1, "levels": [{}], "topology": {"kind": "torus"}, "host_link": {"hop_us": 0.05, "ns_per_byte": 0.08}, "link": {"hop_us": 0.1, "ns_per_byte": 0.08}, "packet": 16384})"},
      {{"dragonfly", "balanced, minimal routes"},
       R"({"version": 1, "levels": [{}], "topology": {"kind": "dragonfly"}, "host_link": {"hop_us": 0.05, "ns_per_byte": 0.08}, "link": {"hop_us": 0.1, "ns_per_byte": 0.08}, "packet": 16384})"},
      {{"dragonfly-valiant", "balanced, Valiant routes"},
       R"({"version": 1, "levels": [{}], "topology": {"kind": "dragonfly", "routing": "valiant"}, "host_link": {"hop_us": 0.05, "ns_per_byte": 0.08}, "link": {"hop_us": 0.1, "ns_per_byte": 0.08}, "packet": 16384})"},
  };
  return all;
}

/// The ranks of a host for which the levels of a file are written: what it says, else those of the last level but one.
Rank host_of_levels(const coll::Machine& machine, Rank said) {
  if (said > 1 || machine.levels.size() < 2) return said;
  return machine.levels[machine.levels.size() - 2].group;
}

bool some_share(std::vector<Host> places) {
  std::sort(places.begin(), places.end());
  return std::adjacent_find(places.begin(), places.end()) != places.end();
}

/// Refuses hosts that a network without shared links does not set apart: messages inside one would cost the same as those
/// between two.
void check_host_level(const Network& network, const HostList& hosts, Rank each) {
  if (!hosts.are_mixed()) return;
  const std::vector<coll::Machine::Level>& levels = network.machine.levels;
  const auto is_of_host = [&](const coll::Machine::Level& level) { return level.group == each; };
  if (levels.size() > 1 && std::any_of(levels.begin(), levels.end() - 1, is_of_host)) return;
  throw BadInput(fmt::format(
      "{}: some ranks share a host and others do not, but the network '{}' has no level for the ranks of a "
      "host{}: add one to 'levels', with the costs inside a host, or try --network two-level",
      hosts.argument, network.name,
      each > 1 ? fmt::format(", which are {} by its 'ranks_per_host'", each) : std::string()));
}

/// Refuses a placement that contradicts the hosts.
void check_placement(NetworkReader& reader, const HostList& hosts) {
  if (!hosts.given() || !reader.has("placement")) return;
  const json& placement = reader.at("placement");
  if (!placement.is_array() && (placement != "round-robin" || hosts.are_even())) return;
  reader.wrong(
      "placement",
      fmt::format("says which ranks share a host, and so does {}: leave one of them out", hosts.argument));
}

}  // namespace

const std::vector<BuiltIn>& built_in_networks() {
  static const std::vector<BuiltIn> names = [] {
    std::vector<BuiltIn> out;
    for (const Built& one : built()) out.push_back(one.shown);
    return out;
  }();
  return names;
}

Network parse_network(const std::string& text, const std::string& name, Rank ranks, const HostList& hosts) {
  json root;
  try {
    root = json::parse(text);
  } catch (const json::exception& problem) {  // also a number that no double holds
    throw BadInput(fmt::format("{}: it is no JSON: {}", name, problem.what()));
  }
  NetworkReader reader(root, name);
  const json& version = reader.at("version");
  if (!version.is_number_integer() || version.get<std::int64_t>() < 1)
    reader.wrong("version", fmt::format("is a whole number from 1 on, but the file has {}", version.dump()));
  if (version.get<std::int64_t>() > kNetworkVersion) {
    throw BadInput(fmt::format(
        "{}: the file has version {}, but this program reads versions up to {}: use a newer aqsim, or write "
        "the file with an older one",
        name, version.dump(), kNetworkVersion));
  }
  Network out;
  out.name = reader.word("name", name.c_str());
  const std::uint32_t each = reader.count("ranks_per_host", 1);
  if (each == 0) reader.wrong("ranks_per_host", "is at least 1");
  out.machine = read_machine(reader, name);
  out.machine.host = each;
  const Rank of_levels = host_of_levels(out.machine, each);
  out.packet = reader.count("packet", 0);
  if (reader.has("topology")) {
    check_placement(reader, hosts);
    const Host needed = hosts.given() ? static_cast<Host>(hosts.sizes.size()) : (ranks + each - 1) / each;
    out.topology = read_topology(reader.at("topology"), reader.way_to("topology"), needed);
    if (out.topology->hosts() < needed && !(reader.has("placement") && reader.at("placement").is_array())) {
      throw BadInput(fmt::format("{}: {} ranks need {} hosts with {}, but the topology has {} ({})", name,
                                 ranks, needed,
                                 hosts.given() ? hosts.argument : fmt::format("{} on each", each),
                                 out.topology->hosts(), out.topology->name()));
    }
    out.places =
        read_places(reader, hosts.given() ? hosts.host_of() : blocks_of(ranks, each), out.topology->hosts());
    if (hosts.given() || each > 1 || some_share(out.places))
      place_on_hosts(out.machine, out.places, of_levels);
  } else if (reader.has("placement")) {
    reader.wrong("placement", "has no meaning without a topology");
  } else if (hosts.given()) {
    check_host_level(out, hosts, of_levels);
    place_on_hosts(out.machine, hosts.host_of(), of_levels);
  }
  if (reader.has("link")) out.of_switches = read_speed(reader.at("link"), reader.way_to("link"), {});
  out.of_hosts = out.of_switches;
  if (reader.has("host_link"))
    out.of_hosts = read_speed(reader.at("host_link"), reader.way_to("host_link"), out.of_switches);
  reader.end();
  return out;
}

Network load_network(const std::string& name_or_file, Rank ranks, const HostList& hosts) {
  for (const Built& one : built()) {
    if (one.shown.name == name_or_file) return parse_network(one.text, name_or_file, ranks, hosts);
  }
  if (std::error_code ignored; std::filesystem::is_directory(name_or_file, ignored))
    throw BadInput(fmt::format("the network '{}' is a folder, not a file", name_or_file));
  std::ifstream file(name_or_file);
  if (!file) {
    std::string names;
    for (const BuiltIn& one : built_in_networks())
      names += fmt::format("{}{}", names.empty() ? "" : ", ", one.name);
    throw BadInput(
        fmt::format("there is no network '{}' and no file of that name; there are: {}", name_or_file, names));
  }
  std::string text(kMostText + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  if (text.size() > kMostText)
    throw BadInput(fmt::format("the network file '{}' has more than {} bytes", name_or_file, kMostText));
  return parse_network(text, name_or_file, ranks, hosts);
}

}  // namespace aqueduct::sim
