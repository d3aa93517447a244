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

/// A port beside the first one, for shares of large transfers and nothing else: no messages go by it, so it has no
/// receives and no credits. A queue pair for each peer that is connected by the first port, and has this rail too.
class Rail {
 public:
  /// `objects` are those of `port`, which outlives it.
  Rail(const Verbs& verbs, const Port& port, Objects objects, const IbvOptions& options, std::uint64_t job,
       Rank ranks, Rank me, core::Log& log);

  const Port& port() const noexcept { return port_; }
  const Objects& objects() const noexcept { return objects_; }
  Address address() const;

  // Connections.
  /// A peer has a rail of this number. False: of another kind of network, so that it is not used.
  bool learn(Rank peer, const Address& address);
  /// Makes a queue pair for a peer. False, and errno: the device gives none.
  bool make(Rank peer) noexcept;
  /// The number of the queue pair for a peer; 0: there is none.
  std::uint32_t pair_of(Rank peer) const noexcept {
    return peers_[peer].pair != nullptr ? peers_[peer].pair->qp_num : 0;
  }
  /// Connects it with the peer's. 0, or an errno.
  int connect(Rank peer, std::uint32_t pair) noexcept;
  bool reaches(Rank peer) const noexcept { return peers_[peer].connected; }
  /// Ends the queue pair: the device uses none of the memory any more that it was given for that peer.
  void drop(Rank peer) noexcept;
  /// Of a queue pair; nobody, if it is none of these.
  Rank peer_of(std::uint32_t pair) const noexcept;

  // Memory.
  Memory& memory() noexcept { return memory_; }
  /// Registers a local buffer outside segments while it is used; null, and a negative errno.
  Registration* borrow(core::Bytes buffer, int& error) noexcept;
  void give_back(Registration& registration) noexcept { cache_.give_back(registration); }
  void invalidate(core::Bytes memory) noexcept;

  // Work.
  /// Has the device take a request, which tells its end. 0, or an errno: ENOMEM means that there is no room now.
  int post(Rank peer, ibv_send_wr& request) noexcept;
  /// How many requests have ended; or below 0.
  int poll(std::span<ibv_wc> ended) noexcept;

  // Sleeping.
  void arm() noexcept { static_cast<void>(::ibv_req_notify_cq(objects_.queue.get(), 0)); }
  /// Takes what the completion channel says. True: it has said something.
  bool empty_channel() noexcept;

 private:
  struct Peer {
    Owned<ibv_qp> pair;
    bool connected = false;  ///< both do
  };

  const Verbs& verbs_;
  const Port& port_;
  IbvOptions options_;
  Rank me_;
  Objects objects_;
  Memory memory_;
  LocalCache cache_;
  std::vector<Address> addresses_;  // of peers; without a version: that peer has no such rail
  std::vector<Peer> peers_;         // which end first
};

/// What peers need to reach a port.
Address address_of(const Port& port, const Objects& objects);

/// The sequence number that a queue pair's first packet has. It differs from an earlier connection's.
constexpr std::uint32_t first_of(std::uint32_t pair, Rank rank) noexcept {
  return (pair * 2654435761u + rank) & 0xff'ffff;
}

}  // namespace aqueduct::conduits::ibv
