// The part of a network file that says where ranks are and which links join them.

#include "sim/network_reader.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <stdexcept>

namespace aqueduct::sim {

using nlohmann::json;

namespace {

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

}  // namespace

std::unique_ptr<Topology> read_topology(const json& value, const std::string& where, Host hosts) {
  NetworkReader reader(value, where);
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

std::vector<Host> read_places(NetworkReader& reader, const std::vector<Host>& blocks, Host hosts) {
  if (!reader.has("placement")) return blocks;
  const json& value = reader.at("placement");
  const auto ranks = static_cast<Rank>(blocks.size());
  std::vector<Host> places(ranks);
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
  if (value == "block") return blocks;
  if (value == "round-robin") {
    const Host used = blocks.back() + 1;
    for (Rank rank = 0; rank < ranks; ++rank) places[rank] = rank % used;
  } else if (value.is_object() && value.size() == 1 && value.contains("random") &&
             value["random"].is_number_unsigned()) {
    std::vector<Host> order(hosts);
    std::iota(order.begin(), order.end(), 0U);
    const auto seed = value["random"].get<std::uint64_t>();
    for (Host i = hosts; i > 1; --i) std::swap(order[i - 1], order[by_chance(seed, i) % i]);
    for (Rank rank = 0; rank < ranks; ++rank) places[rank] = order[blocks[rank]];
  } else {
    reader.wrong("placement",
                 "is \"block\", \"round-robin\", {\"random\": SEED}, or a list with the host of each rank");
  }
  return places;
}

}  // namespace aqueduct::sim
