#pragma once

#include "conduits/ucx/delivery.hpp"
#include "conduits/ucx/library.hpp"
#include "conduits/ucx/operations.hpp"
#include "conduits/ucx/packet_pool.hpp"
#include "conduits/ucx/peers.hpp"
#include "core/log.hpp"

#include <vector>

namespace aqueduct::conduits::ucx {

/// Reports lost peers, and ends the operations on them once UCX no longer uses the callers' memory.
class LostPeers {
 public:
  LostPeers(const Library& ucp, Peers& peers, Operations& operations, PacketPool& packets, Delivery& delivery,
            core::Log& log)
      : ucp_(ucp), peers_(peers), operations_(operations), packets_(packets), delivery_(delivery), log_(log) {
    leaving_.reserve(peers.size());
  }

  /// Whether UCX may still have something for lost peers.
  bool is_waiting() const noexcept { return !leaving_.empty(); }
  /// During a poll: settles the peers that were condemned, and looks after those that were settled before.
  void poll() noexcept {
    if (peers_.has_condemned()) [[unlikely]]
      peers_.take_condemned([this](Peer& peer) { settle(peer); });
    if (!leaving_.empty()) [[unlikely]]
      settle_rest();
  }

 private:
  void settle(Peer& peer) noexcept;
  void settle_rest() noexcept;

  const Library& ucp_;
  Peers& peers_;
  Operations& operations_;
  PacketPool& packets_;
  Delivery& delivery_;
  core::Log& log_;
  std::vector<Rank> leaving_;
};

}  // namespace aqueduct::conduits::ucx
