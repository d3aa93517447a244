#include "runtime/crowding.hpp"

#include "topology/cpu_set.hpp"

#include <algorithm>
#include <set>
#include <string>

namespace aqueduct::runtime {

using aqueduct::detail::EndpointState;

namespace {

std::size_t hosts_of(const EndpointState& state) {
  return std::size_t{*std::ranges::max_element(state.host_of)} + 1;
}

/// How many processors are in any of the sets; 0 if a rank does not know its own.
std::size_t count_of(const std::set<std::string>& sets) {
  topology::CpuSet all;
  for (const std::string& text : sets) {
    const topology::CpuSet cpus = topology::read_set(text);
    if (cpus.empty()) return 0;
    all.insert(all.end(), cpus.begin(), cpus.end());
  }
  std::ranges::sort(all);
  return static_cast<std::size_t>(std::unique(all.begin(), all.end()) - all.begin());
}

}  // namespace

std::vector<std::size_t> processors_of_hosts(const EndpointState& state, const GatheredData& gathered) {
  // Most ranks of a host have the same set: each is read once.
  std::vector<std::set<std::string>> sets(hosts_of(state));
  std::vector<std::size_t> processors(sets.size(), ~std::size_t{0});
  for (Rank rank = 0; rank < state.ranks; ++rank) {
    sets[state.host_of[rank]].insert(gathered.cpus[rank]);
    std::size_t& of_host = processors[state.host_of[rank]];
    of_host = std::min(of_host, static_cast<std::size_t>(gathered.processors[rank]));
  }
  for (std::size_t host = 0; host < sets.size(); ++host) {
    if (processors[host] == ~std::size_t{0}) continue;
    const std::size_t of_ranks = count_of(sets[host]);
    if (of_ranks != 0) processors[host] = std::min(processors[host], of_ranks);
  }
  return processors;
}

std::vector<bool> crowded_ranks(const EndpointState& state, const std::vector<std::size_t>& processors) {
  std::vector<std::size_t> ranks(processors.size());
  for (const std::uint32_t host : state.host_of) ++ranks[host];
  std::vector<bool> crowded;
  crowded.reserve(state.ranks);
  for (const std::uint32_t host : state.host_of) crowded.push_back(ranks[host] > processors[host]);
  return crowded;
}

}  // namespace aqueduct::runtime
