#pragma once

#include "runtime/describe.hpp"

#include <cstddef>
#include <vector>

namespace aqueduct::runtime {

/// The processors on which the ranks of each host may run: [host]; the largest number for a host in virtual time, whose ranks wait
/// for no processor. Ranks that are bound to the same processors share these alone, however many their host has: in a
/// container, or by a launcher. All ranks compute the same.
std::vector<std::size_t> processors_of_hosts(const aqueduct::detail::EndpointState& state,
                                             const GatheredData& gathered);

/// Whose host has more of the job's ranks than `processors`: [rank].
std::vector<bool> crowded_ranks(const aqueduct::detail::EndpointState& state,
                                const std::vector<std::size_t>& processors);

}  // namespace aqueduct::runtime
