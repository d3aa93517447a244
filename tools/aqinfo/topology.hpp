#pragma once

#include <aqueduct/config.hpp>
#include <aqueduct/topology.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace aqueduct::aqinfo {

/// Where one rank of this host is.
struct RankPlace {
  Rank rank = 0;
  std::string cpus;                    ///< "0-3"; empty: not known
  std::vector<std::uint32_t> domains;  ///< by level; kNoDomain for none
};

/// What `aqinfo --topology` shows.
struct TopologyFacts {
  Topology topology;
  Rank ranks = 0;                 ///< of the job
  std::uint32_t other_hosts = 0;  ///< ranks on other hosts
  std::vector<RankPlace> places;  ///< of the ranks of this host
};

/// Takes part in the job by which this process was started, or makes one of its own (AQUEDUCT_ENDPOINTS ranks). Returns the
/// facts on the job's first rank, and an empty list elsewhere. Errors: those of Job::start.
Result<std::vector<TopologyFacts>> look_at_topology(const Config& config);

/// The facts as text and as one JSON object.
std::string topology_as_text(const TopologyFacts& facts);
std::string topology_as_json(const TopologyFacts& facts);

}  // namespace aqueduct::aqinfo
