#pragma once

#include "conduits/ucx/counts.hpp"
#include "conduits/ucx/library.hpp"
#include "conduits/ucx/operations.hpp"
#include "conduits/ucx/peers.hpp"

#include <utility>
#include <vector>

namespace aqueduct::conduits::ucx {

/// Flushes connections, which ends puts by the network.
///
/// UCX completes a put when its source is free. Only a flush of the connection tells that bytes are in place. So puts are
/// collected from one poll to the next, and one flush completes all of them (decision 26).
class Flushes {
 public:
  Flushes(const Library& ucp, Peers& peers, Operations& operations, Counts& counts)
      : ucp_(ucp), peers_(peers), operations_(operations), counts_(counts) {
    dirty_.reserve(peers.size());
    flushing_.reserve(peers.size());
  }

  /// A put that UCX has taken ends with the next flush of its connection.
  void await(Peer& peer, Operation& put) noexcept {
    put.next = std::exchange(peer.puts, &put);
    make_dirty(peer);
  }
  /// Flushes the connections with puts since the last flush.
  void begin() noexcept {
    if (!dirty_.empty()) flush_dirty();
  }
  bool is_idle() const noexcept { return dirty_.empty(); }

 private:
  void make_dirty(Peer& peer) noexcept {
    if (peer.is_dirty) return;
    peer.is_dirty = true;
    dirty_.push_back(peer.rank);
  }
  void flush_dirty() noexcept;
  bool flush(Peer& peer) noexcept;

  const Library& ucp_;
  Peers& peers_;
  Operations& operations_;
  Counts& counts_;
  std::vector<Rank> dirty_;     // peers with puts that no flush follows yet
  std::vector<Rank> flushing_;  // those whose turn it is
};

}  // namespace aqueduct::conduits::ucx
