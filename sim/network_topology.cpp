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

/// Hosts of a fat tree; at least `most`, if there are so many.
std::uint64_t hosts_of_tree(std::uint32_t ports, std::uint32_t tiers, std::uint64_t most) {
  std::uint64_t hosts = 2;
  for (std::uint32_t i = 0; i < tiers && ports >= 4 && hosts < most; ++i) hosts *= ports / 2;
  return hosts;
}

/// Without `tiers` in the file, takes the fewest that connect all hosts; with `tiers` but without `ports`, the fewest of these.
FatTree fat_tree_for(NetworkReader& reader, Host hosts) {
  FatTree shape{reader.count("ports", 36), reader.count("tiers", 1), false};
  if (!reader.has("tiers")) {
    while (shape.ports >= 4 && hosts_of_tree(shape.ports, shape.tiers, hosts) < hosts) ++shape.tiers;
  } else if (!reader.has("ports") && shape.tiers > 0) {
    while (hosts_of_tree(shape.ports, shape.tiers, hosts) < hosts) shape.ports += 2;
  }
  return shape;
}

/// Balanced, with twice as many routers in a group as hosts and global links at a router (Kim et al.), but for what the file gives.
/// What it leaves out is large enough for so many hosts.
Dragonfly dragonfly_for(NetworkReader& reader, Host hosts) {
  constexpr std::uint32_t kMost = 1U << 14;  // chosen: 2^28 hosts need 91 on a router
  const bool has_size = reader.has("hosts") && reader.has("routers");
  const bool is_fixed = has_size && (reader.has("groups") || reader.has("globals"));
  Dragonfly shape;
  for (std::uint32_t each = 1; each <= (is_fixed ? 1 : kMost); ++each) {
    shape.hosts = reader.count("hosts", each);
    shape.routers = reader.count("routers", 2 * each);
    shape.globals = reader.count("globals", each);
    const std::uint64_t most_groups = std::uint64_t{shape.routers} * shape.globals + 1;
    const std::uint64_t of_group = std::uint64_t{shape.hosts} * shape.routers;
    if (of_group == 0) break;
    const std::uint64_t needed = std::max<std::uint64_t>((hosts + of_group - 1) / of_group, 2);
    shape.groups = reader.count("groups", static_cast<std::uint32_t>(std::min(needed, most_groups)));
    if (shape.groups <= most_groups && of_group * shape.groups >= hosts) break;
  }
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
      FatTree shape = fat_tree_for(reader, hosts);
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
      Dragonfly shape = dragonfly_for(reader, hosts);
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
