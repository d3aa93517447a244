#pragma once

#include "tools/aqperf/measure/sampler.hpp"

#include <cstddef>

namespace aqueduct::perf {

// The comparators of the udp conduit: plain kernel sockets between the same
// two processes. All functions are collective.

/// Whether this rank and its peer communicate over sockets; true only if that holds for every rank with a peer.
bool over_sockets(Session& session, Role role);

/// Round trips of UDP datagrams, `there` bytes one way and `back` bytes the other;
/// the same over TCP as a further comparator.
Raw raw_round_trip(Session& session, Role role, std::size_t there, std::size_t back);

/// A flood of UDP datagrams, which moves the bytes of `operations` operations of `bytes` bytes in one turn.
struct SocketFlood {
  bool active_sends = true;  ///< false: the active side is the one that receives
  std::size_t bytes = 0;
  std::size_t operations = 1;
  bool one_datagram_each =
      false;  ///< each operation is a datagram of its own; else datagrams of the best size
};

/// Uses UDP_SEGMENT and UDP_GRO. Where datagrams may have any size, also measures TCP with sends of 256 KiB.
Raw raw_flood(Session& session, Role role, const SocketFlood& flood);

}  // namespace aqueduct::perf
