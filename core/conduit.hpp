#pragma once

#include <aqueduct/network_model.hpp>
#include <aqueduct/rank.hpp>
#include <aqueduct/status.hpp>

#include "core/aside.hpp"
#include "core/clock.hpp"
#include "core/conduit_properties.hpp"
#include "core/cross_map.hpp"
#include "core/inbox.hpp"
#include "core/native_atomics.hpp"
#include "core/native_collectives.hpp"
#include "core/native_rma.hpp"
#include "core/native_signal.hpp"
#include "core/post.hpp"
#include "core/redirect.hpp"
#include "core/waitable.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace aqueduct::core {

/// A transport, as one endpoint sees it. Five functions make it complete. The capabilities are optional: the default is
/// null, and the reference layer does the same with packets.
///
/// Order:    `properties` and `address` are called before `connect`, posts and `poll` after it.
/// Threads:  only the endpoint's thread calls it, unless
///           properties().concurrent_posts. That thread may change between calls.
/// Time:     timers, time limits and backoffs read Process::clock (core/network.hpp).
/// Lifetime: ends before its Network, and before the memory of the segments. A forked child calls no function of a
///           conduit, not even its destructor.
class Conduit {
 public:
  virtual ~Conduit() = default;

  virtual const Properties& properties() const noexcept = 0;
  /// Returns the bytes that peers need to reach this endpoint. Not empty.
  virtual std::vector<std::byte> address() = 0;
  /// Gives the conduit the addresses of all ranks, indexed by rank. An empty address belongs to a rank that another
  /// conduit serves; this may be the endpoint's own rank. Called once. The span is valid during the call.
  ///
  /// Makes no connection that the first send can make: most pairs of ranks never communicate.
  /// Errors: the start of the job fails with the status. The conduit has logged the reason.
  virtual Status connect(std::span<const std::vector<std::byte>> addresses) = 0;
  /// Sends one packet, header then payload, to a peer or to this rank itself.
  ///
  /// The packet arrives exactly once. Packets may overtake each other.
  /// Requires:  the header begins at a multiple of 8 bytes, is a multiple of 8 bytes
  ///            long and has at most kMostHeader bytes; header and payload have at most
  ///            max_packet bytes together. The payload may be empty and is not aligned.
  /// Lifetime:  the header only during the call; the payload too, unless the answer is `posted`: then until completion.
  /// Errors:    peer_lost, network_failed. Without memory the answer is `retry`; of a packet to this rank itself it may be no_memory,
  ///            once the conduit has waited for some.
  virtual Post send(Rank to, Bytes header, Bytes payload, Token token) noexcept = 0;
  /// Delivers packets and completions to the inbox and returns how many calls it made. Does not block.
  ///
  /// Delivers a bounded number of packets, so that a flood from one peer cannot keep the caller here.
  virtual int poll(Inbox& inbox) noexcept = 0;

  virtual NativeRma* rma() noexcept { return nullptr; }
  virtual NativeSignal* signal() noexcept { return nullptr; }
  virtual NativeVector* vector() noexcept { return nullptr; }
  virtual NativeAtomics* atomics() noexcept { return nullptr; }
  virtual NativeUpdates* updates() noexcept { return nullptr; }
  virtual NativeRedirects* redirects() noexcept { return nullptr; }
  virtual CrossMap* cross_map() noexcept { return nullptr; }
  virtual NativeCollectives* collectives() noexcept { return nullptr; }
  virtual Waitable* waitable() noexcept { return nullptr; }

  /// The clock of this rank: Process::clock, unless the conduit has a time of its own. Then waits, timers and backoffs of
  /// the endpoint read this one, and the sleeps of `waitable` are of its time. Asked for once, before `connect`.
  virtual std::optional<EndpointClock> clock() const noexcept { return std::nullopt; }
  /// What messages to a peer cost, if the conduit knows it. Otherwise a profile or the library's defaults say it.
  virtual std::optional<NetworkModel> network_model(Rank /*peer*/) const noexcept { return std::nullopt; }

  /// For a conduit with a progress thread: that thread offers each packet to the Aside first, if the packet arrives
  /// while the endpoint's owner neither polls nor sleeps. Called once, after `connect`.
  virtual void serve_aside(Aside) noexcept {}

  /// Checks whether the peers are alive, and calls Inbox::lost for those that are not. Called at most every 20 ms,
  /// while something waits and now and then by progress.
  virtual void check_peers(Inbox&) noexcept {}
  /// A peer is gone: the launcher says so, perhaps before the conduit has noticed, or the conduit itself has just
  /// called Inbox::lost. Every operation that is posted to the peer completes with peer_lost in the next poll, or as
  /// soon as the network no longer uses the caller's memory. May be called more than once.
  virtual void forget(Rank) noexcept {}
  /// Whether the connections that this endpoint has begun are made, and what it has queued is posted: a destructor may not read the
  /// program's memory. The job's end asks for some seconds at most, and polls meanwhile; the peers poll too, and no rank ends before
  /// all have been asked. Nothing else asks, so a conduit may learn from it that ranks will end. A network library that cannot bear that
  /// a peer ends while it connects finishes its connections here.
  virtual bool settled() noexcept { return true; }
  /// One line about a peer for the stall report, such as queue lengths and the time since its last packet.
  virtual std::string state_of(Rank) const { return {}; }
  /// This range of the process's memory is about to be unmapped or freed: a segment's part of this rank, or a
  /// neighbour's part that is mapped here, perhaps by another conduit. Local buffers may have been in it, so a conduit
  /// that keeps registrations of local buffers ends those that overlap it. Every operation that used it is complete.
  /// Called on the conduits of the endpoint that released the segment, not on those of other ranks of the process.
  virtual void memory_ends(Bytes) noexcept {}
};

}  // namespace aqueduct::core
