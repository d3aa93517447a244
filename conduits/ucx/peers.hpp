#pragma once

#include "conduits/ucx/context.hpp"
#include "conduits/ucx/peer.hpp"
#include "conduits/ucx/worker.hpp"
#include "core/clock.hpp"
#include "core/conduit.hpp"
#include "core/log.hpp"

#include <chrono>
#include <cstddef>
#include <span>
#include <vector>

namespace aqueduct::conduits::ucx {

/// Chosen: far longer than the last messages take to leave, and short for a user who waits for the end of a job.
inline constexpr std::chrono::seconds kCloseTimeout{1};

/// The peers, and the connections (UCP endpoints) to them. The first use of a peer makes its connection.
class Peers {
 public:
  Peers(Context& context, Worker& worker, Rank ranks, Rank me, core::Log& log, core::EndpointClock clock);

  /// Learns a peer's address. Returns whether UCX will watch the connection.
  bool learn(Rank rank, std::span<const std::byte> address, bool on_this_host);
  Peer& operator[](Rank rank) noexcept { return peers_[rank]; }
  const Peer& operator[](Rank rank) const noexcept { return peers_[rank]; }
  std::size_t size() const noexcept { return peers_.size(); }

  /// Connects to a peer unless it is connected: `done`, or what a post there is to answer. The connection is made while
  /// both sides make progress.
  core::Post reach(Peer& peer) noexcept {
    if (peer.ep != nullptr && !peer.failed) [[likely]]
      return core::Post::done();
    return connect(peer);
  }
  /// Treats a peer as lost from the next poll on. Either it cannot be reached, or a message from it or to it was
  /// dropped; a rank that waits for that message must learn that it will not come.
  void fail(Peer& peer, ucs_status_t why) noexcept;
  bool has_failed() const noexcept { return !failed_.empty(); }
  /// Calls `use(peer)` for each failed peer, also for those that are added meanwhile. If not `all`, only for those whose connection
  /// UCX has found broken: nothing more comes from them.
  template <class Use>
  void take_failed(bool all, const Use& use) noexcept {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < failed_.size(); ++i) {
      Peer& peer = peers_[failed_[i]];
      if (all || peer.why != UCS_OK) {
        use(peer);
      } else {
        failed_[kept++] = peer.rank;
      }
    }
    failed_.resize(kept);
  }

  /// The error code for an answer of UCX's to a post; `ok`: UCX had no room.
  ErrorCode code_of(const Peer& peer, ucs_status_t status, const char* what) noexcept;
  /// The status of an operation that UCX has completed.
  Status status_of(Rank rank, ucs_status_t status) noexcept;

  /// Whether a forced close of that connection is safe. It is not if UCX does not watch the connection. Nor is it safe
  /// over network cards: UCX aborts the program if messages of its own that make the connection are still queued
  /// (ucp_request.c:684 of 1.13.1), and it does not tell whether there are any.
  bool can_force_close(const Peer& peer) const noexcept {
    return peer.ep != nullptr && peer.watched && !context_.has_hardware();
  }

  /// Whether the connections are made that this rank has begun; the first call asks UCX for that. UCX 1.13.1 aborts the
  /// program (ucp_request.c:684) if a connection ends while the peer's answer, which accepts it, is still queued there.
  bool settled() noexcept;
  /// Closes the connections once all messages have arrived, or after kCloseTimeout, since peers may be gone. `mine` are
  /// the ranks of this process, in order.
  void close(std::span<const Rank> mine) noexcept;
  /// Whether UCX still has outstanding operations on a lost peer.
  bool is_owed_to_lost() const noexcept;

 private:
  core::Post connect(Peer& peer) noexcept;
  static void on_failure(void* arg, ucp_ep_h ep, ucs_status_t status);

  Context& context_;
  const Library& ucp_;
  Worker& worker_;
  Rank me_;
  core::Log& log_;
  const core::EndpointClock clock_;
  std::vector<Peer> peers_;   // [rank]
  std::vector<Rank> failed_;  // to be reported as lost
  bool settles_ = false;
  std::vector<ucs_status_ptr_t> settling_;  // connections that are not made
};

}  // namespace aqueduct::conduits::ucx
