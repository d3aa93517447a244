#pragma once

#include <aqueduct/endpoint.hpp>
#include <aqueduct/rank_list.hpp>
#include <aqueduct/status.hpp>
#include <aqueduct/team.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace aqueduct {

/// The domain of a rank that is in none, or of which this host knows nothing.
inline constexpr std::uint32_t kNoDomain = std::numeric_limits<std::uint32_t>::max();

/// A way to divide the processors of a host into domains: by packages, by NUMA nodes, by shared caches, by cores.
struct TopologyLevel {
  std::string name;  ///< "host", "package", "numa", "l3", "core", …; "package+numa" if two divide alike
  std::uint32_t domains = 0;  ///< of this host
  /// Whether this host's ranks lie in several of these domains, with several in one of them, and what crosses from one
  /// domain to another crosses the machine's memory system. Of the host: whether the job has ranks on other hosts.
  bool separates = false;
};

/// The caches of the host's first processor, in bytes; 0 if they are not known. All ranks of a host see the same.
struct TopologyCaches {
  std::uint64_t first = 0;    ///< of data
  std::uint64_t second = 0;   ///< of data, or of all
  std::uint64_t last = 0;     ///< the largest level
  std::uint32_t sharing = 0;  ///< processors that share a last cache
};

/// How this host's processors are divided: from the whole host to single cores. Each level divides the domains of the one
/// before it.
struct Topology {
  std::vector<TopologyLevel> levels;  ///< at least one, the host
  std::string source;                 ///< "hwloc", or what AQUEDUCT_TOPOLOGY pretends
  std::string problem;                ///< why the levels below the host are not known; empty if they are
  /// From the system, or those of a pretended topology. Long reductions in shared memory are cut by them.
  TopologyCaches caches{};
};

/// The levels of this rank's host. The first rank that asks reads them for all ranks of the host. Sends nothing.
///
/// Errors: no_memory; in a forked child invalid_argument.
/// Cost:   at first some milliseconds and some MiB, if this rank reads; then a copy.
Result<Topology> topology_of(Endpoint& ep) noexcept;

/// The domain of a rank at a level of topology_of, by its index there. At level 0 it is the number of the rank's host
/// (Endpoint::host_of); at the others kNoDomain for ranks of other hosts, and for those whose process was not bound to
/// processors of one domain when the job started.
///
/// Errors: no_memory; out_of_range (no such rank or level); in a forked child invalid_argument.
/// Cost:   that of topology_of; then constant.
Result<std::uint32_t> domain_of(Endpoint& ep, Rank rank, std::size_t level) noexcept;

/// The processors on which a rank of this host could run when the job started, by the system's numbers: "0-3,8". Empty
/// for ranks of other hosts, and if they are not known.
///
/// Errors: as topology_of; out_of_range (no such rank).
/// Cost:   that of topology_of.
Result<std::string> cpus_of(Endpoint& ep, Rank rank) noexcept;
/// Whether the rank's host has more of the job's ranks than processors on which these may run, by their bindings when the job
/// started: a rank that waits without a pause then keeps its processor from others. The same on all ranks. False if there is no
/// such rank, and in a forked child. Sends and reads nothing.
bool shares_processors(Endpoint& ep, Rank rank) noexcept;

/// The members of the team that are in this rank's domain at a level, in team order. If this rank is in none, those of
/// this host that are in none. `Team::create` makes a team of them.
///
/// Errors: no_memory; out_of_range (no such level); closed (the team has ended); in a forked child invalid_argument.
/// Cost:   no message; that of topology_of, and a look at each member.
Result<RankList> members_in_my_domain(Team& team, std::size_t level) noexcept;
/// One member of each domain of this host in which the team has members, in team order: of the members there, the first.
/// All members of a host get the same list. Those that are in no domain count as one more. Errors and cost: as
/// members_in_my_domain.
Result<RankList> domain_leaders(Team& team, std::size_t level) noexcept;

}  // namespace aqueduct
