#pragma once

#include "conduits/ucx/context.hpp"
#include "conduits/ucx/peer.hpp"
#include "conduits/ucx/worker.hpp"
#include "core/conduit.hpp"
#include "core/log.hpp"

#include <chrono>
#include <cstddef>
#include <span>
#include <vector>

namespace aqueduct::conduits::ucx {

/// Chosen: far more than the last messages take to leave, and little for those who wait for the end of a job.
inline constexpr std::chrono::seconds kCloseTimeout{1};

/// The peers, and the connections (UCP endpoints) to them. A connection is made by the first thing sent.
class Peers {
 public:
  Peers(Context& context, Worker& worker, Rank ranks, Rank me, core::Log& log);

  /// Learns a peer's address. Returns whether UCX will watch the connection.
  bool learn(Rank rank, std::span<const std::byte> address, bool on_this_host);
  Peer& operator[](Rank rank) noexcept { return peers_[rank]; }
  const Peer& operator[](Rank rank) const noexcept { return peers_[rank]; }
  std::size_t size() const noexcept { return peers_.size(); }

  /// Connects to a peer unless it is connected: `done`, or what a post there is to answer. The connection is made while both
  /// sides make progress.
  core::Post reach(Peer& peer) noexcept {
    if (peer.ep != nullptr && !peer.failed) [[likely]]
      return core::Post::done();
    return connect(peer);
  }
  /// Takes a peer for lost: it cannot be reached, or a message from it or to it was dropped. The ranks that wait for it must
  /// learn that, at the next poll.
  void condemn(Peer& peer, ucs_status_t why) noexcept;
  bool has_condemned() const noexcept { return !condemned_.empty(); }
  /// Calls `use(peer)` for each condemned peer, also for those that are added meanwhile.
  template <class Use>
  void take_condemned(const Use& use) noexcept {
    for (std::size_t i = 0; i < condemned_.size(); ++i) use(peers_[condemned_[i]]);
    condemned_.clear();
  }

  /// What the layers above are told of an answer of UCX's: `ok` means that UCX had no room.
  ErrorCode code_of(const Peer& peer, ucs_status_t status, const char* what) noexcept;
  /// The same for an operation that has ended.
  Status status_of(Rank rank, ucs_status_t status) noexcept;

  /// Whether UCX ends at once what it has for that peer. Never where it does not watch; and over cards it aborts the program
  /// if its own messages that were to connect the two still wait (ucp_request.c:684 of 1.13.1), which it does not tell.
  bool can_force_close(const Peer& peer) const noexcept {
    return peer.ep != nullptr && peer.watched && !context_.has_hardware();
  }

  /// Ends the connections once what was sent has arrived, or after a time, since peers may be gone. `mine` are the ranks of
  /// this process, in order.
  void close(std::span<const Rank> mine) noexcept;
  /// Whether UCX still has something for a lost peer.
  bool is_owed_to_lost() const noexcept;

 private:
  core::Post connect(Peer& peer) noexcept;
  static void on_failure(void* arg, ucp_ep_h ep, ucs_status_t status);

  Context& context_;
  const Library& ucp_;
  Worker& worker_;
  Rank me_;
  core::Log& log_;
  std::vector<Peer> peers_;      // [rank]
  std::vector<Rank> condemned_;  // to be reported as lost
};

}  // namespace aqueduct::conduits::ucx
