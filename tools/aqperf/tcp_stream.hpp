#pragma once

#include "tools/aqperf/bare_socket.hpp"
#include "tools/aqperf/patience.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace aqueduct::perf {

/// The kernel's TCP between two ranks, both of which look without sleeping: in one direction, or there and back.
class TcpStream {
 public:
  static constexpr std::size_t kChunk = 256 * 1024;  ///< bytes of one send or receive at the most

  /// The active side sends, or sends first.
  TcpStream(BareSocket connected, bool active, Patience patience);

  /// Both sides call it; returns when the receiver has that many bytes and the sender knows.
  void flood(std::uint64_t bytes);
  /// So many bytes there and so many back, `turns` times; both sides call it.
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
