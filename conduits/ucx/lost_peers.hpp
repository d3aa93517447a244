#pragma once

#include "conduits/ucx/delivery.hpp"
#include "conduits/ucx/library.hpp"
#include "conduits/ucx/operations.hpp"
#include "conduits/ucx/packet_pool.hpp"
#include "conduits/ucx/peers.hpp"
#include "core/clock.hpp"
#include "core/log.hpp"

#include <vector>

namespace aqueduct::conduits::ucx {

/// Reports lost peers, and ends the operations on them once UCX no longer uses the callers' memory.
class LostPeers {
 public:
  LostPeers(const Library& ucp, Peers& peers, Operations& operations, PacketPool& packets, Delivery& delivery,
            core::Log& log, core::EndpointClock clock)
      : ucp_(ucp),
        peers_(peers),
        operations_(operations),
        packets_(packets),
        delivery_(delivery),
        log_(log),
        clock_(clock) {
    unfinished_.reserve(peers.size());
  }

  /// Whether UCX may still have something for lost peers.
  bool is_waiting() const noexcept { return !unfinished_.empty(); }
  /// During a poll, in which UCX found something to do or nothing: reports the peers that have failed, once what they had sent
  /// has been taken, and waits for the remaining operations on those reported before.
  void poll(bool found_nothing) noexcept {
    if (peers_.has_failed()) [[unlikely]] {
      const bool all = found_nothing || ++busy_polls_ >= kMostBusyPolls;
      if (all) busy_polls_ = 0;
      peers_.take_failed(all, [this](Peer& peer) { report(peer); });
    }
    if (!unfinished_.empty()) [[unlikely]]
      finish_rest();
  }

 private:
  // Chosen: other peers may never stop sending. A lost peer's connection has at most some MiB left, of which a poll takes 64 KiB.
  static constexpr unsigned kMostBusyPolls = 256;

  void report(Peer& peer) noexcept;
  void finish_rest() noexcept;

  const Library& ucp_;
  Peers& peers_;
  Operations& operations_;
  PacketPool& packets_;
  Delivery& delivery_;
  core::Log& log_;
  const core::EndpointClock clock_;
  std::vector<Rank> unfinished_;
  unsigned busy_polls_ = 0;  // in a row with failed peers
};

}  // namespace aqueduct::conduits::ucx
