#pragma once

#include "conduits/ibv/memory.hpp"
#include "conduits/ibv/objects.hpp"
#include "conduits/ibv/outstanding_requests.hpp"
#include "conduits/ibv/wire.hpp"
#include "core/log.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace aqueduct::conduits::ibv {

/// A rail: a further port, only for shares of large transfers. It carries no messages, so it has no receives and no
/// credits. It has a queue pair for each peer that is connected through the first port and has this rail too.
class Rail {
 public:
  /// `objects` are those of `port`, which must outlive the rail.
  Rail(const Verbs& verbs, const Port& port, Objects objects, const IbvOptions& options, std::uint64_t job,
       Rank ranks, Rank me, core::Log& log);

  const Port& port() const noexcept { return port_; }
  const Objects& objects() const noexcept { return objects_; }
  Address address() const;

  // Connections.
  /// Stores the address of the peer's rail. False: it is on another kind of network, and is not used.
  bool learn(Rank peer, const Address& address);
  /// Makes a queue pair for a peer. False, and errno: the device refuses.
  bool make(Rank peer) noexcept;
  /// The number of the queue pair for a peer; 0: there is none.
  std::uint32_t pair_of(Rank peer) const noexcept {
    return peers_[peer].pair != nullptr ? peers_[peer].pair->qp_num : 0;
  }
  /// Connects it with the peer's queue pair. Returns 0, or an errno.
  int connect(Rank peer, std::uint32_t pair) noexcept;
  bool reaches(Rank peer) const noexcept { return peers_[peer].connected; }
  /// Destroys the queue pair. Afterwards the device uses no memory for that peer.
  void drop(Rank peer) noexcept;
  /// The peer of a queue pair; kNoRank if this rail has no such queue pair.
  Rank peer_of(std::uint32_t pair) const noexcept;

  // Memory.
  Memory& memory() noexcept { return memory_; }
  /// Registers a local buffer outside segments, until `give_back`. Null, and a negative errno, if that fails.
  Registration* borrow(core::Bytes buffer, core::LocalUse use, int& error) noexcept;
  void give_back(Registration& registration) noexcept { cache_.give_back(registration); }
  void invalidate(core::Bytes memory) noexcept;

  // Work.
  /// Posts a request, signaled. Returns 0, or an errno; ENOMEM: there is no room now.
  int post(Rank peer, ibv_send_wr& request) noexcept;
  /// Polls the completion queue. Returns how many requests have ended, or a negative number.
  int poll(std::span<ibv_wc> ended) noexcept;

  // Sleeping.
  void arm() noexcept { static_cast<void>(::ibv_req_notify_cq(objects_.queue.get(), 0)); }
  /// Takes the events of the completion channel. True: there were some.
  bool empty_channel() noexcept;

 private:
  struct Peer {
    Owned<ibv_qp> pair;
    bool connected = false;  ///< both queue pairs are
  };

  const Verbs& verbs_;
  const Port& port_;
  IbvOptions options_;
  Rank me_;
  Objects objects_;
  Memory memory_;
  LocalCache cache_;
  std::vector<Address> addresses_;  // by rank; version 0: that peer has no such rail
  std::vector<Peer> peers_;         // destroyed first, before the memory that they use
};

/// The address of a port, for peers.
Address address_of(const Port& port, const Objects& objects);

/// The packet sequence number at which a queue pair starts. It differs from that of an earlier connection.
constexpr std::uint32_t first_of(std::uint32_t pair, Rank rank) noexcept {
  return (pair * 2654435761u + rank) & 0xff'ffff;
}

}  // namespace aqueduct::conduits::ibv
