#pragma once

#include <aqueduct/status.hpp>

#include "conduits/udp/carrier/carrier.hpp"
#include "conduits/udp/carrier/socket_receiver.hpp"
#include "conduits/udp/carrier/socket_sender.hpp"
#include "conduits/udp/carrier/socket_setup.hpp"
#include "core/log.hpp"

#include <memory>
#include <string>

namespace aqueduct::conduits::udp {

/// A UDP socket. Used by one thread at a time.
class SocketCarrier final : public Carrier {
 public:
  struct Options {
    Address bind_to;            ///< port 0: any free port
    int send_buffer = 0;        ///< bytes wanted; 0: the system's default
    int receive_buffer = 0;     ///< bytes wanted; 0: the system's default
    std::size_t reads = 16;     ///< most reads that one `receive` returns; each has a buffer of 64 KiB
    bool allow_gso = true;      ///< let the system split long sends into datagrams (UDP_SEGMENT)
    bool allow_gro = true;      ///< let the system join received datagrams (UDP_GRO)
    bool allow_mmsg = true;     ///< several messages per system call (sendmmsg, recvmmsg)
    bool plain_reads = false;   ///< single reads do not ask for the length of joined datagrams
    bool dont_fragment = true;  ///< datagrams longer than the interface's MTU are refused, not fragmented
  };
  /// Errors: invalid_argument (no address), network_failed; the log says why and what to try.
  static Result<std::unique_ptr<SocketCarrier>> open(const Options& options, core::Log& log);

  /// The local address, with the port that the system chose.
  const Address& local() const noexcept { return local_; }
  /// Sizes of the buffers as the system counts them. It charges a small datagram up to some 800 bytes beyond its
  /// length.
  int send_buffer() const noexcept { return send_buffer_; }
  int receive_buffer() const noexcept { return receive_buffer_; }
  bool gso() const noexcept { return sender_.segments(); }
  bool gro() const noexcept { return gro_; }
  std::uint64_t gso_failures() const noexcept { return sender_.segmentation_failures(); }
  /// In words: "192.0.2.2:4711, GSO, GRO, mmsg, buffers 4096 KiB to send and 8192 KiB to receive".
  std::string text() const;

  void only_peer(const Address& peer) noexcept override;
  std::size_t most_segments() const noexcept override { return SocketSender::kMostSegments; }
  std::size_t most_bytes() const noexcept override;
  std::size_t send(std::span<const Outgoing> batch) noexcept override { return sender_.send(batch); }
  std::span<const Incoming> receive(std::size_t most) noexcept override { return receiver_.receive(most); }
  int descriptor() const noexcept override { return socket_.get(); }
  const Counters& counters() const noexcept override { return counters_; }
  int last_error() const noexcept override { return sender_.last_error(); }
  std::size_t too_long() noexcept override { return sender_.take_too_long(); }

 private:
  SocketCarrier(Descriptor socket, const Options& options, core::Log& log);

  Descriptor socket_;
  Address local_;
  int send_buffer_;
  int receive_buffer_;
  bool gro_;
  bool mmsg_;
  Counters counters_;
  SocketSender sender_;
  SocketReceiver receiver_;
};

}  // namespace aqueduct::conduits::udp
