#include "sim/network.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <numeric>
#include <set>
#include <sstream>

namespace aqueduct::sim {

namespace {

using nlohmann::json;

/// An object of the file, with the way to it for messages. Each key is asked for by name; `end` complains about the others.
class Reader {
 public:
  Reader(const json& value, std::string where) : value_(value), where_(std::move(where)) {
    if (!value.is_object()) throw BadInput(fmt::format("{}: an object is expected", where_));
  }

  bool has(const char* key) {
    known_.insert(key);
    return value_.contains(key);
  }
  const json& at(const char* key) {
    if (!has(key)) throw BadInput(fmt::format("{}: '{}' is missing", where_, key));
    return value_.at(key);
  }
  std::string way_to(const char* key) const { return fmt::format("{}: {}", where_, key); }

  double number(const char* key, double usual) {
    if (!has(key)) return usual;
    const json& found = value_.at(key);
    if (!found.is_number() || !(found.get<double>() >= 0) || found.get<double>() > 1e12)
      throw BadInput(fmt::format("{}: '{}' is a number from 0 to 10^12, but the file has {}", where_, key,
                                 found.dump()));
    return found.get<double>();
  }
  std::uint32_t count(const char* key, std::uint32_t usual) {
    if (!has(key)) return usual;
    const json& found = value_.at(key);
    if (!found.is_number_unsigned() || found.get<std::uint64_t>() > (1U << 28))
      throw BadInput(fmt::format("{}: '{}' is a whole number from 0 to 2^28, but the file has {}", where_,
                                 key, found.dump()));
    return found.get<std::uint32_t>();
  }
  std::string word(const char* key, const char* usual) {
    if (!has(key)) return usual;
    const json& found = value_.at(key);
    if (!found.is_string())
      throw BadInput(fmt::format("{}: '{}' is a text, but the file has {}", where_, key, found.dump()));
    return found.get<std::string>();
  }
  coll::Picoseconds time(const char* key, double usual_us) {
    return static_cast<coll::Picoseconds>(std::llround(number(key, usual_us) * 1e6));
  }
  std::uint64_t per_byte(const char* key, double usual_ns) {
    return static_cast<std::uint64_t>(std::llround(number(key, usual_ns) * 1e6));
  }
  [[noreturn]] void wrong(const char* key, const std::string& text) const {
    throw BadInput(fmt::format("{}: '{}' {}", where_, key, text));
  }

  void end() const {
    for (const auto& [key, value] : value_.items()) {
      if (known_.count(key) != 0) continue;
      std::string names;
      for (const std::string& name : known_) names += (names.empty() ? "" : ", ") + name;
      throw BadInput(fmt::format("{}: there is no '{}' here; there are: {}", where_, key, names));
    }
  }

 private:
  const json& value_;
  std::string where_;
  std::set<std::string> known_;
};

coll::LogGP read_link(Reader& reader) {
  coll::LogGP link{.latency = reader.time("latency_us", 1),
                   .overhead = reader.time("overhead_us", 0.3),
                   .gap = reader.time("gap_us", 0.1),
                   .femtoseconds_per_byte = reader.per_byte("ns_per_byte", 0.1)};
  if (link.latency == 0) reader.wrong("latency_us", "is at least a picosecond (0.000001)");
  return link;
}

LinkSpeed read_speed(const json& value, std::string where, const LinkSpeed& usual) {
  Reader reader(value, std::move(where));
  LinkSpeed speed = usual;
  speed.hop = reader.time("hop_us", static_cast<double>(usual.hop) / 1e6);
  speed.gap = reader.time("gap_us", static_cast<double>(usual.gap) / 1e6);
  speed.femtoseconds_per_byte =
      reader.per_byte("ns_per_byte", static_cast<double>(usual.femtoseconds_per_byte) / 1e6);
  reader.end();
  return speed;
}

/// The most equal dimensions whose product is at least `hosts`.
std::vector<std::uint32_t> dimensions_for(Host hosts, std::uint32_t dimensions) {
  std::vector<std::uint32_t> out(dimensions, 1);
  const auto product = [&] {
    return std::accumulate(out.begin(), out.end(), std::uint64_t{1}, std::multiplies<>());
  };
  for (std::size_t i = 0; product() < hosts; i = (i + 1) % dimensions) ++out[i];
  return out;
}
Dragonfly dragonfly_for(Host hosts) {
  Dragonfly shape{1, 2, 1, 3, false};
  const auto all = [&] { return std::uint64_t{shape.hosts} * shape.routers * shape.groups; };
  // Balanced: twice as many routers as hosts and global links (Kim et al.).
  for (std::uint32_t hosts_each = 1; all() < hosts; ++hosts_each) {
    shape = {hosts_each, 2 * hosts_each, hosts_each, 2 * hosts_each * hosts_each + 1, false};
  }
  const std::uint32_t each = shape.hosts * shape.routers;
  shape.groups = std::max<std::uint32_t>(2, (hosts + each - 1) / each);
  return shape;
}

std::unique_ptr<Topology> read_topology(const json& value, const std::string& where, Host hosts) {
  Reader reader(value, where);
  const std::string kind = reader.word("kind", "");
  std::unique_ptr<Topology> made;
  try {
    if (kind == "crossbar") {
      made = make_crossbar(reader.count("hosts", hosts));
    } else if (kind == "fat-tree") {
      FatTree shape{reader.count("ports", 36), 1, false};
      if (reader.has("tiers")) {
        shape.tiers = reader.count("tiers", 1);
      } else if (shape.ports >= 4) {
        for (std::uint64_t fit = shape.ports; fit < hosts; fit *= shape.ports / 2) ++shape.tiers;
      }
      const std::string routing = reader.word("routing", "d-mod-k");
      if (routing != "d-mod-k" && routing != "random") reader.wrong("routing", "is d-mod-k or random");
      shape.by_chance = routing == "random";
      made = make_fat_tree(shape);
    } else if (kind == "torus") {
      std::vector<std::uint32_t> dimensions;
      if (reader.has("sizes")) {
        const json& sizes = reader.at("sizes");
        if (!sizes.is_array()) reader.wrong("sizes", "is a list of whole numbers, such as [8, 8, 8]");
        for (const json& size : sizes) {
          if (!size.is_number_unsigned() || size.get<std::uint64_t>() > (1U << 28))
            reader.wrong("sizes", fmt::format("is a list of whole numbers, but has {}", size.dump()));
          dimensions.push_back(size.get<std::uint32_t>());
        }
      } else {
        const std::uint32_t count = reader.count("dimensions", 3);
        if (count < 1 || count > 16) reader.wrong("dimensions", "is 1 to 16");
        dimensions = dimensions_for(hosts, count);
      }
      made = make_torus(dimensions);
    } else if (kind == "dragonfly") {
      Dragonfly shape = dragonfly_for(hosts);
      shape.hosts = reader.count("hosts", shape.hosts);
      shape.routers = reader.count("routers", shape.routers);
      shape.globals = reader.count("globals", shape.globals);
      shape.groups = reader.count("groups", shape.groups);
      const std::string routing = reader.word("routing", "minimal");
      if (routing != "minimal" && routing != "valiant") reader.wrong("routing", "is minimal or valiant");
      shape.valiant = routing == "valiant";
      made = make_dragonfly(shape);
    } else {
      reader.wrong("kind",
                   fmt::format("is crossbar, fat-tree, torus or dragonfly, but the file has '{}'", kind));
    }
  } catch (const std::invalid_argument& problem) {
    throw BadInput(fmt::format("{}: {}", where, problem.what()));
  }
  reader.end();
  return made;
}

std::vector<Host> read_places(Reader& reader, Rank ranks, Host hosts, std::uint32_t each) {
  std::vector<Host> places(ranks);
  if (!reader.has("placement")) {
    for (Rank rank = 0; rank < ranks; ++rank) places[rank] = rank / each;
    return places;
  }
  const json& value = reader.at("placement");
  if (value.is_array()) {
    if (value.size() != ranks)
      reader.wrong("placement", fmt::format("lists {} hosts, but there are {} ranks", value.size(), ranks));
    for (Rank rank = 0; rank < ranks; ++rank) {
      if (!value[rank].is_number_unsigned() || value[rank].get<std::uint64_t>() >= hosts)
        reader.wrong("placement", fmt::format("has {} for rank {}, but hosts are 0 to {}", value[rank].dump(),
                                              rank, hosts - 1));
      places[rank] = value[rank].get<Host>();
    }
    return places;
  }
  const Host used = (ranks + each - 1) / each;
  if (value == "block") {
    for (Rank rank = 0; rank < ranks; ++rank) places[rank] = rank / each;
  } else if (value == "round-robin") {
    for (Rank rank = 0; rank < ranks; ++rank) places[rank] = rank % used;
  } else if (value.is_object() && value.size() == 1 && value.contains("random") &&
             value["random"].is_number_unsigned()) {
    std::vector<Host> order(hosts);
    std::iota(order.begin(), order.end(), 0U);
    const auto seed = value["random"].get<std::uint64_t>();
    for (Host i = hosts; i > 1; --i) std::swap(order[i - 1], order[by_chance(seed, i) % i]);
    for (Rank rank = 0; rank < ranks; ++rank) places[rank] = order[rank / each];
  } else {
    reader.wrong("placement",
                 "is \"block\", \"round-robin\", {\"random\": SEED}, or a list with the host of each rank");
  }
  return places;
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

}  // namespace

const std::vector<BuiltIn>& built_in_networks() {
  static const std::vector<BuiltIn> names = [] {
    std::vector<BuiltIn> out;
    for (const Built& one : built()) out.push_back(one.shown);
    return out;
  }();
  return names;
}

Network parse_network(const std::string& text, const std::string& name, Rank ranks) {
  json root;
  try {
    root = json::parse(text);
  } catch (const json::parse_error& problem) {
    throw BadInput(fmt::format("{}: it is no JSON: {}", name, problem.what()));
  }
  Reader reader(root, name);
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
  const json& levels = reader.at("levels");
  if (!levels.is_array() || levels.empty()) reader.wrong("levels", "is a list of at least one object");
  out.machine.levels.clear();
  for (std::size_t i = 0; i < levels.size(); ++i) {
    Reader level(levels[i], fmt::format("{}: levels[{}]", name, i));
    const bool last = i + 1 == levels.size();
    const std::uint32_t group = level.count("ranks", last ? 1U << 28 : 0);
    const std::uint32_t inside = i == 0 ? 1 : out.machine.levels.back().group;
    if (group == 0 || group % inside != 0)
      level.wrong("ranks",
                  fmt::format("is how many neighbouring ranks meet at this level: a multiple of {}", inside));
    out.machine.levels.push_back({group, read_link(level)});
    level.end();
  }
  out.machine.copy_femtoseconds_per_byte = reader.per_byte("copy_ns_per_byte", 0);
  out.machine.reduce_femtoseconds_per_byte = reader.per_byte("reduce_ns_per_byte", 0);
  const std::string strided = reader.word("strided", "whole");
  if (strided != "whole" && strided != "pieces") reader.wrong("strided", "is whole or pieces");
  out.machine.strided = strided == "whole" ? coll::Strided::whole : coll::Strided::pieces;
  const std::uint32_t each = reader.count("ranks_per_host", 1);
  if (each == 0) reader.wrong("ranks_per_host", "is at least 1");
  out.packet = reader.count("packet", 0);
  if (reader.has("topology")) {
    const Host needed = (ranks + each - 1) / each;
    out.topology = read_topology(reader.at("topology"), reader.way_to("topology"), needed);
    if (out.topology->hosts() < needed && !(reader.has("placement") && reader.at("placement").is_array())) {
      throw BadInput(fmt::format("{}: {} ranks need {} hosts with {} on each, but the topology has {} ({})",
                                 name, ranks, needed, each, out.topology->hosts(), out.topology->name()));
    }
    out.places = read_places(reader, ranks, out.topology->hosts(), each);
  } else if (reader.has("placement")) {
    reader.wrong("placement", "has no meaning without a topology");
  }
  if (reader.has("link")) out.of_switches = read_speed(reader.at("link"), reader.way_to("link"), {});
  out.of_hosts = out.of_switches;
  if (reader.has("host_link"))
    out.of_hosts = read_speed(reader.at("host_link"), reader.way_to("host_link"), out.of_switches);
  reader.end();
  return out;
}

Network load_network(const std::string& name_or_file, Rank ranks) {
  for (const Built& one : built()) {
    if (one.shown.name == name_or_file) return parse_network(one.text, name_or_file, ranks);
  }
  std::ifstream file(name_or_file);
  if (!file) {
    std::string names;
    for (const BuiltIn& one : built_in_networks())
      names += fmt::format("{}{}", names.empty() ? "" : ", ", one.name);
    throw BadInput(
        fmt::format("there is no network '{}' and no file of that name; there are: {}", name_or_file, names));
  }
  std::stringstream text;
  text << file.rdbuf();
  return parse_network(text.str(), name_or_file, ranks);
}

}  // namespace aqueduct::sim
