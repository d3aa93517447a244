#pragma once

#include "tools/aqperf/measure/patience.hpp"
#include "tools/aqperf/raw/bare_socket.hpp"
#include "tools/aqperf/raw/silence.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace aqueduct::perf {

/// Round trips of datagrams between two connected plain sockets, both polled without sleeping. (Connected, because
/// that is never slower than naming the peer each time.)
///
/// Lost datagrams are sent again: a lossy network slows it down but does not stop it, and no wait is long.
class UdpPingPong {
 public:
  static constexpr std::size_t kLeastBytes = sizeof(std::uint64_t);  ///< a datagram carries its turn's number
  static constexpr std::size_t kMostBytes = 65'000;

  /// The active side sends first. The two directions may have different lengths.
  UdpPingPong(BareSocket connected, bool active, std::size_t there, std::size_t back, Patience patience);
  /// `turns` round trips; to be called at both ranks.
  void run(std::uint64_t turns);

 private:
  void ask();
  void answer(std::uint64_t last);
  void send(std::uint64_t turn) noexcept;
  /// The turn of a datagram that has arrived; 0: none has arrived.
  std::uint64_t receive() noexcept;

  BareSocket socket_;
  Patience patience_;
  bool active_;
  std::vector<std::byte> out_;
  std::vector<std::byte> in_;
  std::uint64_t turn_ = 0;
};

}  // namespace aqueduct::perf
