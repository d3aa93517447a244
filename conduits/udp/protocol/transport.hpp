#pragma once

#include "conduits/udp/carrier/carrier.hpp"
#include "conduits/udp/protocol/connection.hpp"

#include <functional>
#include <memory>
#include <vector>

namespace aqueduct::conduits::udp {

/// What a peer has published about itself.
struct PeerAddress {
  Address address;  ///< empty: not served by this conduit
  Secret secret{};
  std::size_t base = kBaseMtu;  ///< its Common::base_mtu()
};

/// The connections of one endpoint and the carrier that they share. It reads the clock for them. Not thread-safe.
class Transport {
 public:
  /// `lost` is called once for each peer that has timed out or has closed.
  class Watcher {
   public:
    virtual void lost(Rank peer) noexcept = 0;
    /// Called before `lost`: nothing was heard from the peer for the timeout. `ever_heard`: before that, something was.
    virtual void silent(Rank peer, bool ever_heard) noexcept = 0;
    /// Called instead of `silent`: only short packets still reach the peer (Connection::Liveness::black_hole).
    virtual void black_hole(Rank peer) noexcept = 0;
    /// Called instead of `silent`: a packet has used up its attempt numbers, so new copies would reuse a nonce.
    virtual void attempts_exhausted(Rank peer) noexcept = 0;
    /// Called instead of `silent`: this endpoint had no memory for what goes to and comes from the peer, for too long.
    virtual void no_memory(Rank peer) noexcept = 0;
    /// For as long there was no memory for a connection, and packets of the peer are dropped. It is not taken for lost.
    virtual void drops_without_memory(Rank peer) noexcept = 0;

   protected:
    ~Watcher() = default;
  };

  Transport(std::unique_ptr<Carrier> carrier, UpperLayer& upper, Watcher& watcher, Rank me, Rank ranks,
            std::uint64_t job, core::EndpointClock clock);
  ~Transport();

  Common& common() noexcept { return common_; }
  Carrier& carrier() noexcept { return *carrier_; }
  void set_peers(std::vector<PeerAddress> peers, Rank me);
  /// Bytes of the socket's receive buffer, which all peers share.
  void set_budget(std::size_t bytes) noexcept;

  /// The connection to a peer, created at the first call. Null: the peer is lost or not served, or there is no memory.
  Connection* connection(Rank peer) noexcept;
  /// Whether there has been no memory for another connection for too long (Common::no_memory_limit).
  /// Requires: `connection` has just returned null for lack of memory.
  bool lacks_memory() noexcept;
  /// The caller takes the peer for lost for that reason. Reports it.
  void give_up_without_memory(Rank peer) noexcept;
  /// Something was posted to a connection. It leaves now if little is in flight or much waits, else with the next
  /// `progress`.
  void posted(Connection& connection) noexcept;

  /// One round: handles what has arrived, sends what may leave, runs timers. Returns how many datagrams arrived.
  int progress() noexcept;
  /// Sends keep-alives to the peers for which they are due. For the middle of `progress`, while it delivers a message.
  void send_keep_alives() noexcept;
  Time read_clock() const noexcept { return time_of(clock_); }
  /// When `progress` must be called even if nothing arrives.
  Time deadline() const noexcept { return std::min(deadline_, carrier_->deadline()); }

  bool is_gone(Rank peer) const noexcept { return gone_[peer]; }
  /// Whether the peer has an address here.
  bool serves(Rank peer) const noexcept { return peer < peers_.size() && peers_[peer].address.bytes != 0; }
  /// Ends the connection to a peer that is known to be gone.
  void forget(Rank peer) noexcept;
  /// Called repeatedly while `close` or `finish_replies` waits: polls endpoints that nobody else polls. May be empty.
  using Meanwhile = std::function<void()>;
  /// Waits, with a bound, until everything sent is acknowledged; then sends close packets.
  void close(const Meanwhile& meanwhile) noexcept;
  /// Waits, with a bound, until no reply to a get reads this segment any more.
  void finish_replies(SegmentId segment, const Meanwhile& meanwhile) noexcept;

  std::string address(Rank peer) const { return peers_[peer].address.text(); }
  std::string text(Rank peer) const;  ///< for the stall report and the statistics

 private:
  static constexpr std::size_t kGsoBatches = 8;

  void take(Time now, std::span<std::byte> datagram) noexcept;
  void keep_alive(Time now, Connection& connection) noexcept;
  void flush(Time now, Connection& connection) noexcept;
  bool push() noexcept;
  void serve_dirty(Time now) noexcept;
  /// Runs timers at the time `now`, and stamps what leaves with the time `leaves`.
  void tick(Time now, Time leaves) noexcept;
  /// Runs the connection's timers. Whether the connection is over; its peer is then reported lost.
  bool ended(Time now, Connection& connection) noexcept;
  void share_window(Time now) noexcept;
  GsoBatch* next_gso_batch() noexcept;
  void add(const Connection& connection, bool may_fragment) noexcept;
  bool push_by(Time end) noexcept;
  template <class Done>
  void progress_until(const Done& done, Time limit, const Meanwhile& meanwhile) noexcept;

  std::unique_ptr<Carrier> carrier_;
  const core::EndpointClock clock_;
  Common common_;
  Watcher& watcher_;
  std::vector<PeerAddress> peers_;                        // by rank
  std::vector<std::unique_ptr<Connection>> connections_;  // by rank; null: no packet to or from it yet
  std::vector<bool> gone_;                                // by rank
  std::vector<Connection*> active_;
  std::vector<Connection*> dirty_;
  std::unique_ptr<GsoBatch[]> gso_batches_ = std::make_unique<GsoBatch[]>(kGsoBatches);
  std::vector<Outgoing> outgoing_;
  std::size_t pushed_ = 0;  // entries of the batch that the system has taken
  bool blocked_ = false;    // the system had no room for the rest
  bool in_progress_ = false;
  bool more_waits_ = false;  // the last receive hit its limit
  int busy_rounds_ = 0;      // consecutive rounds in which something arrived
  std::size_t reads_ = 1;
  std::size_t budget_ = 128 * 1024;
  MemoryShortage shortage_;  // of memory for connections
  bool told_of_drops_ = false;
  std::uint64_t unknown_senders_ = 0;  // datagrams that belong to no connection
  Time deadline_ = kNever;
  Time last_progress_ = 0;
  Time shared_at_ = 0;
};

}  // namespace aqueduct::conduits::udp
