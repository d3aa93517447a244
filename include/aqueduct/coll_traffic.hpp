#pragma once

#include <aqueduct/status.hpp>
#include <aqueduct/team.hpp>

#include <cstddef>
#include <cstdint>

namespace aqueduct {

/// Bytes that this rank has moved in large collective operations of a team whose members map one another's memory, since the
/// team began. Inside: between this rank and members of its own domain, such as a NUMA node; across: and other members.
/// What a rank reads and writes of its own memory counts in `touched` alone.
///
/// Summed over the members: a broadcast of m bytes to p members in domains of q each reads (p - q) m across; an all-reduce
/// by `mapped-tiles` reads and writes as much. Among s domains a broadcast by `mapped-domains` and a reduce by
/// `mapped-domain-tiles` or `mapped-tree` read (s - 1) m across, and an all-reduce twice that.
struct CollTraffic {
  std::uint64_t read_inside = 0;
  std::uint64_t read_across = 0;
  std::uint64_t written_inside = 0;
  std::uint64_t written_across = 0;
  /// Put into shared memory for the others: copied from a buffer in no segment, or partial results. Read from there it counts again.
  std::uint64_t staged = 0;
  /// All bytes that the rank's copies and reductions have read or written, of its own memory too. An all-reduce of m bytes among
  /// p members touches (3 p - 1) m by `mapped-tiles`, and (5 p + 1) m by `flags-stream`, which copies in and out.
  std::uint64_t touched = 0;
  /// Of these, the bytes that copies have written. Divided by the length of the block it is the number of copies that the rank has
  /// made: 1 for each reader of a broadcast by `mapped`, whose buffers all members map.
  std::uint64_t copied = 0;
  /// Stages (movements, docs/collectives/board.md) of this team's operations in which the rank could not go on at once, for want of
  /// another member's flag or of room; each piece of a long operation counts. Short operations and barriers of the team's members count, too. It depends on who comes when.
  std::uint64_t waits = 0;
};

/// The counters of this rank, divided by the domains at a level of topology_of (aqueduct/topology.hpp). Members of which
/// no domain is known count as one domain more. Zeroes if the members do not share memory. Operations whose payload
/// travels beside the lines that members poll (up to 1 KiB; of two members 16 KiB; of more that share processors 32 KiB, but for
/// scans) are not counted, but for `waits`. Memory that teams have taken is `collective_scratch_most` of Endpoint::statistics_rows.
///
/// Errors: no_memory; out_of_range (no such level); closed (the team has ended); in a forked child invalid_argument.
/// Cost:   no message; that of topology_of, and a look at each member.
Result<CollTraffic> coll_traffic(Team& team, std::size_t level) noexcept;

}  // namespace aqueduct
