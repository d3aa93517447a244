#pragma once

#include "conduits/ucx/delivery.hpp"
#include "conduits/ucx/library.hpp"
#include "conduits/ucx/operation.hpp"
#include "conduits/ucx/peers.hpp"
#include "core/conduit.hpp"

#include <cstddef>
#include <cstdint>

namespace aqueduct::conduits::ucx {

/// The outstanding operations of the layers above: each has a place in the pool from its post to its completion, and
/// counts against its peer.
class Operations {
 public:
  Operations(const Library& ucp, Peers& peers, Delivery& delivery, std::size_t count)
      : ucp_(ucp), peers_(peers), delivery_(delivery), pool_(*this, count) {}

  /// Takes an operation from the pool. Null: no room. A peer may have no more outstanding operations than are still
  /// free. So a peer that does not answer leaves room for the others.
  Operation* begin(Peer& peer, core::Token token) noexcept {
    if (peer.operations >= pool_.available()) [[unlikely]]
      return nullptr;
    ++peer.operations;
    return pool_.acquire(peer.rank, token);
  }
  /// Frees an operation that completed at once.
  void release(Operation& operation) noexcept {
    --peers_[operation.peer].operations;
    pool_.release(operation);
  }
  /// Frees an operation that UCX refused. Returns the answer to the layers above.
  core::Post refused(const Peer& peer, Operation& operation, ucs_status_t status) noexcept;

  /// Ends an operation and reports it: at once during a poll, else at the next poll.
  void end(Operation& operation, Status status) noexcept;
  /// Ends a list of puts with `status`. If `status` is ok, a put that has failed ends with its own error.
  void end_puts(Operation* puts, Status status) noexcept;
  /// Reports the operations that ended outside of a poll.
  void report_ended() noexcept;
  bool has_ended() const noexcept { return ended_ != nullptr; }

  /// The operation that a put's answer names; null: it is over.
  Operation* find(std::uint32_t index, std::uint32_t generation) noexcept {
    return pool_.find(index, generation);
  }
  std::size_t in_use() const noexcept { return pool_.in_use(); }
  /// Whether so few are in use that some may wait for late answers.
  bool has_plenty() const noexcept { return pool_.in_use() * 4 < pool_.available(); }
  /// Ends the puts by message that only an answer of this lost peer could end.
  void end_unanswered(Rank peer, Status status) noexcept;
  /// Reports all operations on a lost peer as over although UCX has not completed them. UCX may still complete them, so
  /// they stay in use, and the pool gets the same number of new ones.
  void abandon(Rank peer, Status status) noexcept;

  /// Called by UCX: a get, or a piece of one, has ended.
  static void on_got(void* request, ucs_status_t status, void* user_data);
  /// Called by UCX: a flush has ended, and with it the puts whose first is `user_data`.
  static void on_flushed(void* request, ucs_status_t status, void* user_data);
  /// Called by UCX: it has sent all of a put by message.
  static void on_put_sent(void* request, ucs_status_t status, void* user_data);

 private:
  const Library& ucp_;
  Peers& peers_;
  Delivery& delivery_;
  OperationPool pool_;
  Operation* ended_ = nullptr;  // outside of a poll: they keep their places until they are reported
};

}  // namespace aqueduct::conduits::ucx
