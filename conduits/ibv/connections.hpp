#pragma once

#include "conduits/ibv/connection_manager.hpp"
#include "conduits/ibv/datagram_listener.hpp"
#include "conduits/ibv/link_map.hpp"
#include "conduits/ibv/messages.hpp"
#include "conduits/ibv/rails.hpp"

#include <chrono>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace aqueduct::conduits::ibv {

/// One endpoint's connections, each made when something is first sent to a peer, or when the peer asks for it: by datagrams
/// (connections.cpp), or over iWARP by librdmacm (connections_iwarp.cpp).
class Connections {
 public:
  using Clock = std::chrono::steady_clock;

  Connections(const Environment& env, Losses& losses, const CreditCounters& counters, Requests& requests,
              ReceiveBuffers& receive, Messages& messages, Rails& rails)
      : env_(env),
        losses_(losses),
        counters_(counters),
        requests_(requests),
        receive_(receive),
        messages_(messages),
        rails_(rails),
        ranks_(env.ranks),
        addresses_(env.ranks),
        links_(env.ranks) {
    connecting_.reserve(env.ranks);
  }

  /// From now on peers can ask for connections. The log says what was refused.
  Status open();
  /// Where peers ask for them, in an address for them.
  void tell(Address& address) const noexcept;
  void learn_address(Rank peer, const Address& address) noexcept { addresses_[peer] = address; }

  /// The connection with a peer. Null if there is none yet: it is being made, or there will be none (Losses).
  Link* reach(Rank peer) noexcept {
    Link* const link = find(peer);
    return link != nullptr && link->ready ? link : start_connecting(peer);
  }
  /// Null if nothing has been done yet for one with that rank.
  Link* find(Rank peer) const noexcept { return peer < ranks_ ? links_[peer].get() : nullptr; }
  /// Of a request's completion.
  Link* find_by_request(std::uint64_t id) const noexcept { return links_[WorkId::peer(id)].get(); }
  /// Of a queue pair; null if there is none.
  Link* find_by_pair(std::uint32_t pair) const noexcept { return by_pair_.find(pair); }
  std::span<const std::unique_ptr<Link>> all() const noexcept { return links_; }

  /// Before completions are taken, in each poll: what a peer had sent before it hung up is then among them. `woken`: there may
  /// be news of librdmacm.
  void poll_calls(bool woken) noexcept {
    if (manager_.is_open()) [[unlikely]]
      look_for_calls(woken);
  }
  /// After them. `more`: there may be others.
  void go_on(bool more) noexcept {
    if (!hung_up_.empty() && !more) [[unlikely]]
      take_hang_ups();
    if (!connecting_.empty()) [[unlikely]]
      retry_connecting();
  }
  /// A completion of the door's.
  void take_received(std::uint64_t index, const ibv_wc& completion) noexcept {
    if (const auto hello = listener_.receive(index, completion)) take_hello(*hello);
  }
  void take_sent(std::uint64_t index) noexcept { listener_.sent(index); }

  /// Ends a queue pair, and so all that the device does for the peer.
  static void close(Link& link) noexcept;

  /// Whether the next poll has something to do.
  bool is_busy() const noexcept { return !hung_up_.empty() || !to_greet_.empty(); }
  /// When the next Hello is due; nothing if none is.
  std::optional<Clock::time_point> next_hello() const noexcept;
  /// Readable when librdmacm has news, or something has completed; -1 where it is not used.
  int descriptor() const noexcept { return manager_.is_open() ? manager_.descriptor() : -1; }

 private:
  Link* start_connecting(Rank peer) noexcept;
  Link* make_link(Rank peer) noexcept;
  bool connect_queue_pair(Link& link, const Hello& hello) noexcept;
  void learn(Link& link, const Hello& hello) noexcept;
  Hello hello_for(const Link& link) const noexcept;
  bool can_count() const noexcept { return env_.sizes().depth <= BesidePut::kMostDepth; }
  bool make_address_handle(Link& link) noexcept;
  void send_hello(Link& link) noexcept;
  void take_hello(const Hello& hello) noexcept;
  void retry_connecting() noexcept;

  // Over iWARP.
  void look_for_calls(bool woken) noexcept;
  bool renew(Link& link) noexcept;
  void call(Link& link) noexcept;
  void call_later(Link& link) noexcept;
  void accept(Link& link, Call call, const Hello& hello) noexcept;
  void called(const ConnectionManager::Event& event) noexcept;
  void take_calls() noexcept;
  void take_hang_ups() noexcept;
  void greet() noexcept;

  const Environment& env_;
  Losses& losses_;
  const CreditCounters& counters_;
  Requests& requests_;
  ReceiveBuffers& receive_;
  Messages& messages_;
  Rails& rails_;
  Rank ranks_;
  DatagramListener listener_;
  ConnectionManager manager_;  // instead of the door, over iWARP; ends after the links
  std::vector<Address> addresses_;
  std::vector<std::unique_ptr<Link>> links_;
  LinkMap by_pair_;
  std::vector<Link*> connecting_;
  std::vector<Link*> to_greet_;       // over iWARP: that I have called, and who wait for a word
  std::vector<Link*> hung_up_;        // over iWARP: connections that have ended
  std::uint32_t polls_uncalled_ = 0;  // since calls were looked for
};

}  // namespace aqueduct::conduits::ibv
