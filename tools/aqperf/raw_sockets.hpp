#pragma once

#include "tools/aqperf/sampler.hpp"

#include <cstddef>

namespace aqueduct::perf {

// What the udp conduit is compared with: the kernel's sockets, bare, between the same two processes. All of it is
// collective.

/// Whether it is sockets that join this rank and its peer, for every rank that has one.
bool over_sockets(Session& session, Role role);

/// UDP datagrams there and back, of so many bytes each way; and the same over TCP.
Raw raw_round_trip(Session& session, Role role, std::size_t there, std::size_t back);

/// A flood of UDP datagrams: what `operations` operations of so many bytes move in one turn.
struct SocketFlood {
  bool active_sends = true;  ///< false: the active side is the one that receives
  std::size_t bytes = 0;
  std::size_t operations = 1;
  bool one_datagram_each =
      false;  ///< each operation is a datagram of its own; else datagrams of the best size
};

/// In trains that the kernel cuts up and joins. Where datagrams may have any size, also TCP with sends of 256 KiB.
Raw raw_flood(Session& session, Role role, const SocketFlood& flood);

}  // namespace aqueduct::perf
