#pragma once

#include "conduits/udp/carrier/carrier.hpp"
#include "core/log.hpp"

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include <sys/socket.h>

namespace aqueduct::conduits::udp {

/// Sends batches over a UDP socket with as few system calls as the system allows.
///
/// With segmentation (UDP_SEGMENT) an Outgoing is one message; without it, each datagram is a message. With sendmmsg
/// one call sends all messages of a batch; without it, each message is a call.
class SocketSender {
 public:
  /// Most datagrams of one Outgoing: the lowest limit of kernels with UDP_SEGMENT (UDP_MAX_SEGMENTS).
  static constexpr std::size_t kMostSegments = 64;

  struct Abilities {
    bool segmentation = true;
    bool many_messages = true;  ///< sendmmsg
    bool dont_fragment = true;  ///< the socket sets don't-fragment, so it must be cleared for `may_fragment`
  };
  SocketSender(int socket, sa_family_t family, Abilities abilities, Carrier::Counters& counters,
               core::Log& log);

  /// As Carrier::send. Without segmentation, an Outgoing of which the system took only some datagrams counts as not
  /// taken, so these datagrams are sent twice.
  std::size_t send(std::span<const Outgoing> batch) noexcept;

  /// The socket is connected, so messages carry no address.
  void set_connected() noexcept { connected_ = true; }
  bool segments() const noexcept { return abilities_.segmentation; }
  /// How often the system refused to segment. After the first refusal segmentation is not used again.
  std::uint64_t segmentation_failures() const noexcept { return segmentation_failures_; }
  int last_error() const noexcept { return last_error_; }
  std::size_t take_too_long() noexcept;

 private:
  // Why a flush stopped, and how many whole Outgoings were done by then.
  enum class Stop { all_sent, no_room, no_segmentation };
  struct Flushed {
    Stop why;
    std::size_t outgoings;
  };

  std::size_t queue(std::span<const Outgoing> batch, bool may_segment) noexcept;
  bool queue_one(const Outgoing& outgoing, std::size_t owner, bool may_segment) noexcept;
  bool queue_datagrams(const Outgoing& outgoing, std::size_t owner) noexcept;
  void add(const Outgoing& outgoing, std::size_t owner, iovec* pieces, std::size_t count, std::size_t bytes,
           std::size_t segment) noexcept;
  Flushed flush(std::size_t outgoings) noexcept;
  Flushed flush_fragmented(std::size_t outgoings) noexcept;
  bool send_without_segmentation(const Outgoing& outgoing) noexcept;
  void refuse(int problem, std::size_t count, std::size_t bytes_of_each) noexcept;
  void tell(int problem, const Address& to) noexcept;

  static constexpr std::size_t kMessages = kMostSegments;  // so that one Outgoing always fits
  static constexpr std::size_t kPieces = 1024;
  struct Control {  // one control message with the segment size
    alignas(cmsghdr) std::array<std::byte, CMSG_SPACE(sizeof(std::uint16_t))> bytes;
  };
  struct Owner {
    std::size_t outgoing;  // index in the batch
    std::size_t datagrams, bytes, datagram_bytes;
    const Address* to;
  };

  int socket_;
  bool connected_ = false;
  sa_family_t family_;
  Abilities abilities_;
  Carrier::Counters& counters_;
  core::Log& log_;
  std::vector<mmsghdr> messages_;
  std::vector<Owner> owners_;
  std::vector<Control> controls_;
  std::vector<iovec> pieces_;  // of datagrams that are split here
  std::size_t messages_used_ = 0;
  std::size_t pieces_used_ = 0;
  std::uint64_t segmentation_failures_ = 0;
  int last_error_ = 0;
  std::array<int, 8> told_{};  // the errors that the log has
  std::size_t told_of_ = 0;    // how many
  std::size_t too_long_ = 0;
};

}  // namespace aqueduct::conduits::udp
