#pragma once

#include "tools/aqperf/bare_socket.hpp"
#include "tools/aqperf/session.hpp"

#include <optional>

namespace aqueduct::perf {

/// Bare sockets between the ranks of each pair. All of it is collective; ranks without a peer get none.
class SocketMeeting {
 public:
  SocketMeeting(Session& session, Role role);

  /// Whether every rank has found an address to bind to: loopback where all ranks share a network namespace, else
  /// what the udp conduit would choose.
  bool possible() const noexcept { return possible_; }
  /// Connected UDP sockets.
  std::optional<BareSocket> datagrams();
  /// Connected TCP sockets.
  std::optional<BareSocket> stream();

 private:
  bool has_peer() const noexcept { return role_.peer != kNoRank && role_.peer != session_.rank(); }

  Session& session_;
  Role role_;
  Address here_;
  bool possible_ = false;
};

}  // namespace aqueduct::perf
