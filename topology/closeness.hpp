#pragma once

#include "topology/placement.hpp"

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace aqueduct::topology {

/// How close ranks of a host are, in the words of network profiles (`aqperf calibrate`): threads of one core; a last cache in
/// common; a NUMA node in common; nothing but the host.
enum class Closeness : std::uint8_t { core, cache, domain, host };
std::string_view word_of(Closeness closeness) noexcept;

/// How close the most distant two of the members are. Requires: a member. Where no level divides a host by NUMA nodes, it has one.
Closeness closeness(std::span<const Rank> members, const std::vector<Level>& levels,
                    const Placement::DomainOf& domain_of);

}  // namespace aqueduct::topology
