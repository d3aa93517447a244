#pragma once

#include "tools/aqperf/bare_socket.hpp"
#include "tools/aqperf/patience.hpp"
#include "tools/aqperf/silence.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace aqueduct::perf {

/// Datagrams there and back between two connected bare sockets, both of which look without sleeping. (Connected,
/// because that is never slower than naming the peer each time.)
///
/// What is lost is sent again, so that a lossy network slows it and does not stop it; it never waits for long.
class UdpPingPong {
 public:
  static constexpr std::size_t kLeastBytes = sizeof(std::uint64_t);  ///< a datagram says which turn it is
  static constexpr std::size_t kMostBytes = 65'000;

  /// The active side sends first. What goes there and what comes back may differ in length.
  UdpPingPong(BareSocket connected, bool active, std::size_t there, std::size_t back, Patience patience);
  /// There and back, `turns` times; both sides call it.
  void run(std::uint64_t turns);

 private:
  void ask();
  void answer(std::uint64_t last);
  void send(std::uint64_t turn) noexcept;
  /// The turn that an arrived datagram is of; 0: none has arrived.
  std::uint64_t receive() noexcept;

  BareSocket socket_;
  Patience patience_;
  bool active_;
  std::vector<std::byte> out_;
  std::vector<std::byte> in_;
  std::uint64_t turn_ = 0;
};

}  // namespace aqueduct::perf
