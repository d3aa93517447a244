#pragma once

#include "conduits/ucx/counts.hpp"
#include "conduits/ucx/delivery.hpp"
#include "conduits/ucx/library.hpp"
#include "conduits/ucx/message_filter.hpp"
#include "conduits/ucx/messages.hpp"
#include "conduits/ucx/operations.hpp"
#include "conduits/ucx/peers.hpp"
#include "conduits/ucx/rendezvous.hpp"
#include "conduits/ucx/segments.hpp"
#include "conduits/ucx/wire.hpp"
#include "conduits/ucx/worker.hpp"
#include "core/conduit.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace aqueduct::conduits::ucx {

/// Puts by message (decision 26): one message with the bytes and where they belong, and one answer when they are in place.
///
/// The target needs no handler of the layers above, so its progress thread serves such puts too.
class PutMessages {
 public:
  PutMessages(const Library& ucp, Worker& worker, Peers& peers, Operations& operations, Messages& messages,
              MessageFilter& filter, Delivery& delivery, const Segments& segments, Counts& counts)
      : ucp_(ucp),
        worker_(worker),
        peers_(peers),
        operations_(operations),
        messages_(messages),
        filter_(filter),
        delivery_(delivery),
        segments_(segments),
        counts_(counts) {
    answering_.reserve(peers.size());
  }

  /// Posts a put of pieces, which have `bytes` in all.
  core::Post put(Peer& peer, Operation& operation, std::span<const core::Bytes> from, std::size_t bytes,
                 PutHead head) noexcept;

  /// Answers the puts that have been carried out since the last call.
  void send_answers() noexcept;
  bool owes_answers() const noexcept { return !answering_.empty(); }

  /// Called by UCX, with this as the argument, for a put, a short put, and an answer.
  static ucs_status_t on_put(void* arg, const void* header, std::size_t header_bytes, void* data,
                             std::size_t bytes, const ucp_am_recv_param_t* param);
  static ucs_status_t on_short_put(void* arg, const void* header, std::size_t header_bytes, void* data,
                                   std::size_t bytes, const ucp_am_recv_param_t* param);
  static ucs_status_t on_put_done(void* arg, const void* header, std::size_t header_bytes, void* data,
                                  std::size_t bytes, const ucp_am_recv_param_t* param);

 private:
  std::optional<std::byte*> place_of(const PutHead& head, std::size_t bytes) noexcept;
  static void on_received(void* request, ucs_status_t status, std::size_t bytes, void* user_data);
  void in_place(const PutHead& head) noexcept;
  void answer(const PutHead& head, ErrorCode code) noexcept;

  const Library& ucp_;
  Worker& worker_;
  Peers& peers_;
  Operations& operations_;
  Messages& messages_;
  MessageFilter& filter_;
  Delivery& delivery_;
  const Segments& segments_;
  Counts& counts_;
  RendezvousPool rendezvous_;
  std::vector<Rank> answering_;  // peers whose puts have been carried out and not answered
};

}  // namespace aqueduct::conduits::ucx
