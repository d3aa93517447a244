#pragma once

#include "conduits/udp/carrier/carrier.hpp"

#include <array>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <span>
#include <vector>

#include <sys/socket.h>

namespace aqueduct::conduits::udp {

/// Reads from a UDP socket into its own buffers, one or several per system call.
class SocketReceiver {
 public:
  /// Fits the longest datagram, and the most that UDP_GRO joins.
  static constexpr std::size_t kBufferBytes = 64 * 1024;

  struct Shape {
    std::size_t buffers = 16;
    std::size_t buffer_bytes = kBufferBytes;
    bool many_messages = true;  ///< recvmmsg
    bool plain = false;         ///< single reads do not ask for datagram lengths: packet headers have them
  };
  SocketReceiver(int socket, Shape shape, Carrier::Counters& counters);

  /// As Carrier::receive.
  std::span<const Incoming> receive(std::size_t most) noexcept;

 private:
  std::size_t read_one(std::size_t buffer) noexcept;
  std::size_t read_plain() noexcept;
  std::size_t read_many(std::size_t most) noexcept;
  void take(std::size_t buffer, std::size_t bytes) noexcept;

  struct Control {  // room for the two control messages that the socket may deliver
    alignas(cmsghdr) std::array<std::byte, CMSG_SPACE(sizeof(int)) + CMSG_SPACE(sizeof(std::uint32_t))> bytes;
  };
  struct Free {
    void operator()(std::byte* memory) const noexcept { std::free(memory); }
  };

  int socket_;
  Shape shape_;
  Carrier::Counters& counters_;
  std::unique_ptr<std::byte, Free> memory_;
  std::vector<iovec> pieces_;
  std::vector<Control> controls_;
  std::vector<mmsghdr> messages_;
  std::vector<Incoming> incoming_;
  std::size_t incoming_used_ = 0;
  std::uint32_t overflowed_ = 0;  // the system's count at the last report
};

}  // namespace aqueduct::conduits::udp
