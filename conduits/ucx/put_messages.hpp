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
    answering_late_.reserve(peers.size());
  }

  /// Posts a put of pieces, which have `bytes` in all. `from` is read during the call if they are at most kMostInject.
  core::Post put(Peer& peer, Operation& operation, std::span<const core::Bytes> from, std::size_t bytes,
                 PutHead head) noexcept;
  /// As put, of at most kMostInject bytes, for which nobody waits: the answer comes with other answers, or late.
  core::Post put_unwaited(Peer& peer, Operation& operation, core::Bytes from, PutHead head) noexcept;

  /// Answers the puts that have been carried out since the last call.
  void send_answers() noexcept;
  bool owes_answers() const noexcept { return !answering_.empty(); }
  /// Answers that may wait leave with those that may not, once a peer is owed kMostLate of them, kLatePolls polls after the
  /// first of them, or at the next send_answers after a call of `hurry`: before this rank sleeps, for instance.
  bool owes_late_answers() const noexcept { return !answering_late_.empty(); }
  void count_poll() noexcept {
    if (++late_polls_ >= kLatePolls) hurry();
  }
  void hurry() noexcept;

  /// Called by UCX, with this as the argument, for a put, a short put, one that nobody waits for, and an answer.
  static ucs_status_t on_put(void* arg, const void* header, std::size_t header_bytes, void* data,
                             std::size_t bytes, const ucp_am_recv_param_t* param);
  static ucs_status_t on_short_put(void* arg, const void* header, std::size_t header_bytes, void* data,
                                   std::size_t bytes, const ucp_am_recv_param_t* param);
  static ucs_status_t on_late_put(void* arg, const void* header, std::size_t header_bytes, void* data,
                                  std::size_t bytes, const ucp_am_recv_param_t* param);
  static ucs_status_t on_put_done(void* arg, const void* header, std::size_t header_bytes, void* data,
                                  std::size_t bytes, const ucp_am_recv_param_t* param);

 private:
  enum class Answer : bool { next, late };

  // Chosen: far fewer than an endpoint has operations (AQUEDUCT_UCX_OPERATIONS), and enough that the answers cost little.
  static constexpr std::size_t kMostLate = 16;
  static constexpr unsigned kLatePolls = 256;

  core::Post put_short(Peer& peer, Operation& operation, std::span<const core::Bytes> from, std::size_t bytes,
                       PutHead head, MessageId id) noexcept;
  core::Post posted(Peer& peer, Operation& operation, ucs_status_ptr_t answer) noexcept;
  void keep_head(Operation& operation, PutHead head) const noexcept;
  ucs_status_t take_short(std::size_t header_bytes, const void* data, std::size_t bytes,
                          const ucp_am_recv_param_t& param, Answer answer) noexcept;
  std::optional<std::byte*> place_of(const PutHead& head, std::size_t bytes) noexcept;
  static void on_received(void* request, ucs_status_t status, std::size_t bytes, void* user_data);
  void in_place(const PutHead& head, Answer when) noexcept;
  void answer(const PutHead& head, ErrorCode code, Answer when = Answer::next) noexcept;

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
  std::vector<Rank> answering_;  // peers whose answers leave next
  std::vector<Rank>
      answering_late_;       // peers with answers that may wait; the answers may have left with others
  unsigned late_polls_ = 0;  // since the first of them
};

}  // namespace aqueduct::conduits::ucx
