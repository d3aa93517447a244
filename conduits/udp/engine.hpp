#pragma once

#include "conduits/udp/carrier.hpp"
#include "conduits/udp/link.hpp"

#include <functional>
#include <memory>
#include <vector>

namespace aqueduct::conduits::udp {

/// What a peer has told of itself.
struct PeerAddress {
  Address address;  ///< empty: not served by this conduit
  Secret secret{};
};

/// The links of one endpoint and the carrier that they share. Not thread-safe.
class Engine {
 public:
  /// `lost` is told of each peer that has fallen silent or has said farewell, once.
  class Watcher {
   public:
    virtual void lost(Rank peer) noexcept = 0;
    /// Said before `lost`, of a peer from which nothing was heard for the time allowed.
    virtual void silent(Rank peer) noexcept = 0;
    /// Instead, of a peer that only short packets reach any more (Link::Life::stuck).
    virtual void stuck(Rank peer) noexcept = 0;
    /// Instead, of a peer for which a packet has left so often that its copies cannot be told apart any more.
    virtual void worn_out(Rank peer) noexcept = 0;

   protected:
    ~Watcher() = default;
  };

  Engine(std::unique_ptr<Carrier> carrier, Host& host, Watcher& watcher, Rank me, Rank ranks,
         std::uint64_t job);
  ~Engine();

  Common& common() noexcept { return common_; }
  Carrier& carrier() noexcept { return *carrier_; }
  void learn(std::vector<PeerAddress> peers, Rank me);
  /// Bytes of the system's receive buffer, which all peers share.
  void set_budget(std::size_t bytes) noexcept;

  /// The link to a peer, made at the first call. Null: the peer is lost, not served, or there is no memory.
  Link* link(Rank peer) noexcept;
  /// Something was posted to a link: it leaves now if the line is free, else with the next turn.
  void posted(Link& link) noexcept;

  /// One round: takes what has arrived, sends what may leave, looks at the clock. Returns how many datagrams arrived.
  int turn() noexcept;
  /// When `turn` is wanted even though nothing arrives.
  Time deadline() const noexcept { return std::min(deadline_, carrier_->deadline()); }

  bool is_gone(Rank peer) const noexcept { return gone_[peer]; }
  /// Whether the peer has an address here.
  bool serves(Rank peer) const noexcept { return peer < peers_.size() && peers_[peer].address.bytes != 0; }
  /// Ends the link to a peer that is known to be gone.
  void forget(Rank peer) noexcept;
  /// What is done again and again while this engine waits: turns of others that nobody else turns. May be empty.
  using Meanwhile = std::function<void()>;
  /// Waits, turning, until what was sent is acknowledged, but not for long; then says farewell.
  void close(const Meanwhile& meanwhile) noexcept;
  /// Waits, turning, until no answer to a get is under way from memory of ours, but not for long.
  void finish_replies(const Meanwhile& meanwhile) noexcept;

  std::string address(Rank peer) const { return peers_[peer].address.text(); }
  std::string text(Rank peer) const;  ///< for the stall report and the statistics

 private:
  static constexpr std::size_t kTrains = 8;

  void take(Time now, std::span<std::byte> datagram) noexcept;
  void flush(Time now, Link& link) noexcept;
  bool push() noexcept;
  void serve_dirty(Time now) noexcept;
  void tick(Time now) noexcept;
  /// Whether the link's time has come to its end; if so, its peer is lost.
  bool ended(Time now, Link& link) noexcept;
  void share_window(Time now) noexcept;
  Train* next_train() noexcept;
  void add(const Link& link, bool may_fragment) noexcept;
  bool push_by(Time end) noexcept;
  template <class Done>
  void turn_until(const Done& done, Time limit, const Meanwhile& meanwhile) noexcept;

  std::unique_ptr<Carrier> carrier_;
  Common common_;
  Watcher& watcher_;
  std::vector<PeerAddress> peers_;            // by rank
  std::vector<std::unique_ptr<Link>> links_;  // by rank; null: never talked to
  std::vector<bool> gone_;                    // by rank
  std::vector<Link*> active_;
  std::vector<Link*> dirty_;
  std::unique_ptr<Train[]> trains_ = std::make_unique<Train[]>(kTrains);
  std::vector<Outgoing> batch_;
  std::size_t pushed_ = 0;  // of the batch, already taken by the system
  bool blocked_ = false;    // the system had no room for the rest
  bool turning_ = false;
  bool more_waits_ = false;  // the last read took as much as it may
  int busy_turns_ = 0;       // in a row, in which something arrived
  std::size_t reads_ = 1;
  std::size_t budget_ = 128 * 1024;
  std::uint64_t strangers_ = 0;  // datagrams that belong to nobody
  Time deadline_ = kNever;
  Time last_turn_ = 0;
  Time shared_at_ = 0;
};

}  // namespace aqueduct::conduits::udp
