#pragma once

#include "tools/aqperf/measure/session.hpp"
#include "tools/aqperf/raw/bare_socket.hpp"

#include <optional>

namespace aqueduct::perf {

/// Opens plain sockets between the ranks of each pair. All functions are
/// collective; ranks without a peer get no socket.
class SocketMeeting {
 public:
  SocketMeeting(Session& session, Role role);

  /// Whether every rank found an address to bind to: loopback if all ranks share a network namespace, else the
  /// address that the udp conduit would choose.
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
