// What programs ask of the topology: include/aqueduct/topology.hpp.

#include <aqueduct/topology.hpp>

#include "core/entry.hpp"
#include "team/rank_list_state.hpp"
#include "team/team_state.hpp"
#include "topology/host_topology.hpp"

#include <algorithm>
#include <new>
#include <set>
#include <utility>

namespace aqueduct {
namespace {

using detail::EndpointState;
using detail::TeamState;

/// Calls `answer` with the layer, under the endpoint's lock. It may throw std::bad_alloc.
template <class T, class F>
Result<T> ask(EndpointState& state, F answer) noexcept try {
  const core::Entry entry(state);
  if (state.in_child()) return ErrorCode::invalid_argument;
  return answer(*state.layer<topology::HostTopology>());
} catch (const std::bad_alloc&) {
  return ErrorCode::no_memory;
}

/// The members of a team on this host that `is_wanted(domain of the member)` names, asked in team order.
template <class F>
Result<RankList> members_by_domain(Team& handle, std::size_t level, F is_wanted) noexcept {
  TeamState& team = handle.state();
  // The layers' data is gone with the endpoint, which then is gone too.
  if (team.slot(detail::TeamSlot::barrier) == nullptr) return ErrorCode::closed;
  return ask<RankList>(team.endpoint, [&](topology::HostTopology& layer) -> Result<RankList> {
    if (level >= layer.table().levels().size()) return ErrorCode::out_of_range;
    EndpointState& state = team.endpoint;
    std::vector<Rank> wanted;
    for (Rank i = 0; i < team.size(); ++i) {
      const Rank rank = team.members[i];
      if (state.host_of[rank] != state.host_of[state.rank]) continue;
      if (is_wanted(layer.domain_of(rank, level), layer)) wanted.push_back(rank);
    }
    return team::list_of(team::RankMap::of(std::move(wanted)));
  });
}

std::string source_text(const topology::Source& source) {
  switch (source.kind) {
    case topology::Source::Kind::none: return "none";
    case topology::Source::Kind::machine: return "hwloc";
    case topology::Source::Kind::synthetic:
    case topology::Source::Kind::xml: break;
  }
  return source.text;
}

}  // namespace

Result<Topology> topology_of(Endpoint& ep) noexcept {
  return ask<Topology>(ep.state(), [](topology::HostTopology& layer) -> Result<Topology> {
    Topology out;
    const std::vector<std::size_t> separating = layer.separating_levels();
    const auto& levels = layer.table().levels();
    for (std::size_t i = 0; i < levels.size(); ++i) {
      const bool separates = std::ranges::find(separating, i) != separating.end();
      out.levels.push_back({levels[i].name, levels[i].domains, separates});
    }
    out.source = source_text(layer.source());
    out.problem = layer.problem();
    const topology::Caches& caches = layer.caches();
    out.caches = {caches.first, caches.second, caches.last, caches.sharing};
    return out;
  });
}

Result<std::uint32_t> domain_of(Endpoint& ep, Rank rank, std::size_t level) noexcept {
  return ask<std::uint32_t>(ep.state(), [&](topology::HostTopology& layer) -> Result<std::uint32_t> {
    if (rank >= ep.ranks() || level >= layer.table().levels().size()) return ErrorCode::out_of_range;
    return layer.domain_of(rank, level);
  });
}

Result<std::string> cpus_of(Endpoint& ep, Rank rank) noexcept {
  return ask<std::string>(ep.state(), [&](topology::HostTopology& layer) -> Result<std::string> {
    if (rank >= ep.ranks()) return ErrorCode::out_of_range;
    return topology::text_of(layer.cpus_of(rank));
  });
}

bool shares_processors(Endpoint& ep, Rank rank) noexcept {
  return rank < ep.ranks() && ep.state().crowded[rank];
}

Result<RankList> members_in_my_domain(Team& team, std::size_t level) noexcept {
  return members_by_domain(team, level, [&](std::uint32_t domain, topology::HostTopology& layer) {
    return domain == layer.domain_of(team.state().endpoint.rank, level);
  });
}

Result<RankList> domain_leaders(Team& team, std::size_t level) noexcept {
  std::set<std::uint32_t> seen;
  return members_by_domain(
      team, level, [&](std::uint32_t domain, topology::HostTopology&) { return seen.insert(domain).second; });
}

}  // namespace aqueduct
