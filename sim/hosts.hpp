#pragma once

#include "coll/model/loggp.hpp"
#include "sim/topology.hpp"

#include <span>
#include <string>
#include <vector>

namespace aqueduct::sim {

/// The hosts of a simulation as the user gives them, in place of what a network file says.
struct HostList {
  std::vector<Rank> sizes;  ///< the ranks of each host, in the order of the ranks; none: what the file says
  std::string argument;     ///< what the user has written, for messages: "--hosts 8,8,3"

  bool given() const noexcept { return !sizes.empty(); }
  /// Whether some ranks share a host and others do not.
  bool are_mixed() const noexcept;
  /// Whether all hosts but the last have the same number of ranks, and the last no more.
  bool are_even() const noexcept;
  /// The host of each rank, from 0 up.
  std::vector<Host> host_of() const;
};

/// The host of each rank with `each` ranks on a host.
std::vector<Host> blocks_of(Rank ranks, Rank each);

/// Gives the ranks of a machine slots by their hosts, so that its levels and processors are those of these hosts. `each`: the
/// ranks of a host for which the levels of the machine are written: a level of so many ranks becomes that of a host,
/// however many ranks the host has; smaller ones divide a host; larger ones join as many hosts as before.
/// Errors: BadInput, if hosts differ so much that there are not enough slots.
void place_on_hosts(coll::Machine& machine, std::span<const Host> host_of, Rank each);

/// Changes the order of the ranks of each host by chance, as where nothing binds them: neighbours need not share a processor.
void mix_on_hosts(coll::Machine& machine, Rank ranks, std::uint64_t seed);

}  // namespace aqueduct::sim
