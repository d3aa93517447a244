#pragma once

#include "tools/aqperf/measure/patience.hpp"
#include "tools/aqperf/raw/bare_socket.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace aqueduct::perf {

/// The kernel's TCP between two ranks that both poll without sleeping: a flood in one direction, or ping-pong.
class TcpStream {
 public:
  static constexpr std::size_t kChunk = 256 * 1024;  ///< the most bytes of one send or receive

  /// The active side sends (flood) or sends first (ping-pong).
  TcpStream(BareSocket connected, bool active, Patience patience);

  /// To be called at both ranks; returns when the receiver has all bytes and the sender knows it.
  void flood(std::uint64_t bytes);
  /// `turns` round trips, `there` bytes one way and `back` bytes the other; to be called at both ranks.
  void ping_pong(std::size_t there, std::size_t back, std::uint64_t turns);

 private:
  void send(std::uint64_t bytes);
  void receive(std::uint64_t bytes);

  BareSocket socket_;
  bool active_;
  Patience patience_;
  std::vector<std::byte> buffer_;
};

}  // namespace aqueduct::perf
