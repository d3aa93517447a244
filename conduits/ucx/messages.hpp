#pragma once

#include "conduits/ucx/counts.hpp"
#include "conduits/ucx/delivery.hpp"
#include "conduits/ucx/library.hpp"
#include "conduits/ucx/message_filter.hpp"
#include "conduits/ucx/packet_pool.hpp"
#include "conduits/ucx/peers.hpp"
#include "conduits/ucx/segments.hpp"
#include "conduits/ucx/wire.hpp"
#include "core/aside.hpp"
#include "core/conduit.hpp"

#include <cstddef>

namespace aqueduct::conduits::ucx {

/// Messages: packets of the layers above, and the conduit's own.
///
/// A message is copied into a buffer of this endpoint's, with its head in front, and leaves as one contiguous eager message: the
/// layers above have their memory back at once, and a short one costs UCX no request (decision 25).
class Messages {
 public:
  Messages(const Library& ucp, Peers& peers, PacketPool& packets, std::size_t most_packets_each,
           MessageFilter& filter, Delivery& delivery, const Segments& segments, std::size_t max_packet,
           Counts& counts)
      : ucp_(ucp),
        peers_(peers),
        packets_(packets),
        most_packets_each_(most_packets_each),
        filter_(filter),
        delivery_(delivery),
        segments_(segments),
        max_packet_(max_packet),
        counts_(counts) {}

  core::Post send(Peer& peer, MessageId id, core::Bytes header, core::Bytes payload) noexcept;
  std::size_t max_packet() const noexcept { return max_packet_; }

  /// Sets what serves packets that arrive outside of a poll.
  void serve_aside(core::Aside aside) noexcept { aside_ = aside; }
  bool owes_aside_answers() const noexcept { return !aside_answers_.empty(); }
  void send_aside_answers() noexcept;

  /// Called by UCX, with this as the argument.
  static ucs_status_t on_packet(void* arg, const void* header, std::size_t header_bytes, void* data,
                                std::size_t bytes, const ucp_am_recv_param_t* param);

 private:
  static void on_sent(void* request, ucs_status_t status, void* user_data);
  void arrived(const std::byte* data, std::size_t bytes) noexcept;
  void arrived_aside(Rank from, core::Bytes packet) noexcept;

  const Library& ucp_;
  Peers& peers_;
  PacketPool& packets_;
  std::size_t most_packets_each_;
  MessageFilter& filter_;
  Delivery& delivery_;
  const Segments& segments_;
  std::size_t max_packet_;
  Counts& counts_;
  core::Aside aside_ = nullptr;
  core::AsideAnswers aside_answers_;
};

}  // namespace aqueduct::conduits::ucx
