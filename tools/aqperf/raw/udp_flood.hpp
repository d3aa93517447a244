#pragma once

#include "tools/aqperf/measure/patience.hpp"
#include "tools/aqperf/raw/bare_socket.hpp"
#include "tools/aqperf/raw/silence.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace aqueduct::perf {

/// The highest rate of the kernel's UDP in one direction: the sender passes trains of datagrams for the kernel to
/// split (UDP_SEGMENT), and the receiver takes them joined (UDP_GRO). Nothing is retransmitted.
///
/// The receiver reports from time to time how many bytes it has, and the sender keeps no more in flight than the
/// receiver's socket holds, so that nothing is lost on one host. Bytes that are lost anyway are counted.
class UdpFlood {
 public:
  static constexpr std::size_t kLeastSegment = 8;
  static constexpr std::size_t kMostSegment = 65'000;

  /// Datagrams of `segment` bytes, the same on both sides. Throws Failure if the system lacks UDP_SEGMENT
  /// or UDP_GRO, or cannot send such datagrams.
  UdpFlood(BareSocket connected, bool sends, std::size_t segment, Patience patience);

  /// To be called at both ranks; returns when the receiver has that many bytes, rounded up to datagrams.
  void run(std::uint64_t bytes);
  /// Receiver: bytes that never arrived.
  std::uint64_t lost() const noexcept { return lost_; }

 private:
  void send_all();
  bool send_train();
  void await_room(std::uint64_t most_on_the_way);
  void hear() noexcept;
  void mark() noexcept;
  void receive_all();
  bool take();
  void credit() noexcept;

  BareSocket socket_;
  Patience patience_;
  bool sends_;
  std::size_t segment_;
  std::size_t train_;
  std::uint64_t window_;
  std::vector<std::byte> buffer_;
  std::uint64_t target_ = 0;    ///< bytes of all runs so far
  std::uint64_t sent_ = 0;      ///< sender
  std::uint64_t heard_ = 0;     ///< sender: bytes that the receiver has reported
  std::uint64_t taken_ = 0;     ///< receiver: bytes received or lost
  std::uint64_t credited_ = 0;  ///< receiver: bytes that it has reported
  std::uint64_t lost_ = 0;
};

}  // namespace aqueduct::perf
