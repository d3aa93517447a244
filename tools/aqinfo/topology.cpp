#include "tools/aqinfo/topology.hpp"

#include <aqueduct/job.hpp>

#include "coll/shared/tile_sizes.hpp"
#include "tools/aqinfo/words.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <utility>

namespace aqueduct::aqinfo {
namespace {

Result<TopologyFacts> facts_of(Endpoint& ep) {
  TopologyFacts facts;
  auto topology = topology_of(ep);
  if (!topology) return topology.status();
  facts.topology = std::move(*topology);
  facts.ranks = ep.ranks();
  facts.other_hosts = ep.ranks() - static_cast<Rank>(ep.neighbours().size());
  for (const Rank rank : ep.neighbours()) {
    RankPlace place{rank, {}, {}};
    const auto cpus = cpus_of(ep, rank);
    if (!cpus) return cpus.status();
    place.cpus = *cpus;
    for (std::size_t level = 0; level < facts.topology.levels.size(); ++level) {
      const auto domain = domain_of(ep, rank, level);
      if (!domain) return domain.status();
      place.domains.push_back(*domain);
    }
    facts.places.push_back(std::move(place));
  }
  return facts;
}

/// "package 2, numa 5": where the rank is in each level below the host.
std::string domains_text(const TopologyFacts& facts, const RankPlace& place) {
  std::string text;
  for (std::size_t level = 1; level < place.domains.size(); ++level) {
    const std::string number =
        place.domains[level] == kNoDomain ? std::string("in none") : std::to_string(place.domains[level]);
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", facts.topology.levels[level].name, number);
  }
  return text;
}

/// The levels below the host to which collective operations of ranks that share it keep.
std::vector<std::string> levels_of_collectives(const TopologyFacts& facts) {
  std::vector<std::string> names;
  for (std::size_t level = 1; level < facts.topology.levels.size(); ++level) {
    if (facts.topology.levels[level].separates) names.push_back(facts.topology.levels[level].name);
  }
  return names;
}

/// Those of a team of this host's ranks.
coll::TileSizes tiles_of(const TopologyFacts& facts) {
  const TopologyCaches& caches = facts.topology.caches;
  return coll::tile_sizes({caches.first, caches.second, caches.last, caches.sharing},
                          static_cast<Rank>(facts.places.size()));
}

std::string caches_text(const TopologyFacts& facts) {
  const TopologyCaches& caches = facts.topology.caches;
  const coll::TileSizes tiles = tiles_of(facts);
  std::vector<std::string> known;
  if (caches.first != 0) known.push_back(size_text(caches.first));
  if (caches.second != 0) known.push_back(size_text(caches.second));
  if (caches.last != 0)
    known.push_back(fmt::format("{} shared by {} processor{}", size_text(caches.last), caches.sharing,
                                caches.sharing == 1 ? "" : "s"));
  return fmt::format("caches: {}; long reductions of these ranks combine tiles of up to {}, {} at a time",
                     known.empty() ? "not known" : fmt::format("{}", fmt::join(known, ", ")),
                     size_text(tiles.most), size_text(tiles.at_once));
}

}  // namespace

Result<std::vector<TopologyFacts>> look_at_topology(const Config& config) {
  auto job = Job::start(config);
  if (!job) return job.status();
  std::vector<TopologyFacts> out;
  Status status;
  if (Endpoint& me = job->endpoint(); me.rank() == 0) {
    auto facts = facts_of(me);
    if (facts) out.push_back(std::move(*facts));
    status = facts.status();
  }
  if (const Status ended = job->finish(); status) status = ended;
  if (!status) return status;
  return out;
}

std::string topology_as_text(const TopologyFacts& facts) {
  std::string out = "Topology of this host\n";
  out += "  " + wrapped(fmt::format("from {}", facts.topology.source), 2) + "\n";
  if (!facts.topology.problem.empty())
    out += "  " + wrapped(fmt::format("no levels are known: {}", facts.topology.problem), 2) + "\n";
  out += fmt::format("\n  {:<20} {:>8}  {}\n", "level", "domains", "separates ranks");
  for (const TopologyLevel& level : facts.topology.levels)
    out += fmt::format("  {:<20} {:>8}  {}\n", level.name, level.domains, level.separates ? "yes" : "no");
  if (const std::vector<std::string> kept = levels_of_collectives(facts); !kept.empty()) {
    out +=
        "\n  " +
        wrapped(fmt::format("collective operations: trees keep to {}; long broadcasts, all-gathers, "
                            "reduces, all-reduces and reduce-scatters to {} (unless ranks share processors)",
                            fmt::join(kept, ", "), kept.back()),
                2) +
        "\n";
  }
  out += "\n  " + wrapped(caches_text(facts), 2) + "\n";
  out += fmt::format("\n  {} rank{} here, {} on other hosts\n", facts.places.size(),
                     facts.places.size() == 1 ? "" : "s", facts.other_hosts);
  for (const RankPlace& place : facts.places) {
    const std::string where = place.cpus.empty() ? "processors unknown" : "processors " + place.cpus;
    const std::string domains = domains_text(facts, place);
    const std::string head = fmt::format("  rank {:<6} ", place.rank);
    out +=
        head + wrapped(domains.empty() ? where : fmt::format("{}: {}", where, domains), head.size()) + "\n";
  }
  return out;
}

std::string topology_as_json(const TopologyFacts& facts) {
  using Json = nlohmann::ordered_json;
  Json levels = Json::array();
  for (const TopologyLevel& level : facts.topology.levels)
    levels.push_back(
        {{"name", level.name}, {"domains", level.domains}, {"separates_ranks", level.separates}});
  Json places = Json::array();
  for (const RankPlace& place : facts.places) {
    Json domains = Json::array();
    for (const std::uint32_t domain : place.domains)
      domains.push_back(domain == kNoDomain ? Json(nullptr) : Json(domain));
    places.push_back({{"rank", place.rank}, {"cpus", place.cpus}, {"domains", std::move(domains)}});
  }
  const Json problem = facts.topology.problem.empty() ? Json(nullptr) : Json(facts.topology.problem);
  const TopologyCaches& caches = facts.topology.caches;
  const coll::TileSizes tiles = tiles_of(facts);
  const Json all{{"source", facts.topology.source},
                 {"problem", problem},
                 {"levels", std::move(levels)},
                 {"collectives_keep_to", levels_of_collectives(facts)},
                 {"caches",
                  {{"first_bytes", caches.first},
                   {"second_bytes", caches.second},
                   {"last_bytes", caches.last},
                   {"processors_sharing_last", caches.sharing}}},
                 {"tiles", {{"most_bytes", tiles.most}, {"at_once_bytes", tiles.at_once}}},
                 {"ranks", facts.ranks},
                 {"ranks_on_other_hosts", facts.other_hosts},
                 {"places", std::move(places)}};
  return all.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace aqueduct::aqinfo
