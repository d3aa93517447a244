#pragma once

#include "conduits/ibv/connection_manager.hpp"
#include "conduits/ibv/connection_map.hpp"
#include "conduits/ibv/datagram_listener.hpp"
#include "conduits/ibv/messages.hpp"
#include "conduits/ibv/rails.hpp"

#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace aqueduct::conduits::ibv {

/// The connections of one endpoint. Each is made at the first post to a peer, or when the peer requests it: by
/// datagrams (connections.cpp), or on iWARP by librdmacm (connections_iwarp.cpp).
class Connections {
 public:
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
        listener_(env),
        addresses_(env.ranks),
        by_peer_(env.ranks) {
    for (auto* list : {&connecting_, &to_greet_, &disconnects_, &disconnects_now_}) list->reserve(env.ranks);
  }

  /// Starts to accept requests for connections. The log says what was refused.
  Status open();
  /// Writes into the address for peers where they send requests for connections.
  void tell(Address& address) const noexcept;
  void learn_address(Rank peer, const Address& address) noexcept { addresses_[peer] = address; }

  /// The connection with a peer; the first call starts to make it. Null while it is being made, and if the peer cannot
  /// be reached (see Losses).
  Connection* reach(Rank peer) noexcept {
    Connection* const connection = find(peer);
    return connection != nullptr && connection->ready ? connection : start_connecting(peer);
  }
  /// Null if no connection with that rank was ever started.
  Connection* find(Rank peer) const noexcept { return peer < ranks_ ? by_peer_[peer].get() : nullptr; }
  /// By the id of a completed work request.
  Connection* find_by_request(std::uint64_t id) const noexcept { return by_peer_[WorkId::peer(id)].get(); }
  /// By the number of a queue pair; null if no connection has that pair.
  Connection* find_by_pair(std::uint32_t pair) const noexcept { return by_pair_.find(pair); }
  std::span<const std::unique_ptr<Connection>> all() const noexcept { return by_peer_; }

  /// Called in each poll before completions are taken, so that they include all that a peer sent before it closed the
  /// connection. `woken`: librdmacm may have events.
  void poll_cm_events(bool woken) noexcept {
    if (manager_.is_open()) [[unlikely]]
      check_cm_events(woken);
  }
  /// Called in each poll after completions are taken. `more`: some may be left.
  void go_on(bool more) noexcept {
    if (!disconnects_.empty() && !more) [[unlikely]]
      take_disconnects();
    if (!connecting_.empty()) [[unlikely]]
      retry_connecting();
    if (listener_.next_start()) [[unlikely]]
      listener_.go_on();
  }
  // Completions of the datagram listener.
  void take_received(std::uint64_t index, const ibv_wc& completion) noexcept {
    if (const auto hello = listener_.receive(index, completion)) take_hello(*hello);
  }
  void take_sent(std::uint64_t index, const ibv_wc& completion) noexcept {
    listener_.sent(index, completion);
  }

  /// Destroys the queue pair. Afterwards the device uses no memory for this peer.
  static void close(Connection& connection) noexcept;

  /// Whether the next poll has work to do here.
  bool is_busy() const noexcept { return !disconnects_.empty() || !to_greet_.empty(); }
  /// When the next Hello must be sent; nothing if none is due.
  std::optional<core::Clock::time_point> next_hello() const noexcept;
  /// Readable when librdmacm has events, or requests have completed; -1 without librdmacm.
  int descriptor() const noexcept { return manager_.is_open() ? manager_.descriptor() : -1; }

 private:
  Connection* start_connecting(Rank peer) noexcept;
  Connection* make_connection(Rank peer) noexcept;
  void learn(Connection& connection, const Hello& hello) noexcept;
  Hello hello_for(const Connection& connection) const noexcept;
  bool can_count() const noexcept { return env_.sizes().depth <= BesidePut::kMostDepth; }
  void send_hello(Connection& connection) noexcept;
  void take_hello(const Hello& hello) noexcept;
  void retry_connecting() noexcept;

  // connections_resolve.cpp: false while there is no way to the peer, or if there will be none (see Losses).
  bool make_address_handle(Connection& connection) noexcept;
  bool connect_queue_pair(Connection& connection, const Hello& hello) noexcept;
  bool may_try_way(const Connection& connection) const noexcept;
  void found_way(Connection& connection) noexcept;
  void found_no_way(Connection& connection, int error) noexcept;

  // Over iWARP.
  void check_cm_events(bool woken) noexcept;
  bool renew(Connection& connection) noexcept;
  void request_connection(Connection& connection) noexcept;
  void retry_later(Connection& connection) noexcept;
  void accept(Connection& connection, CmId request, const Hello& hello) noexcept;
  void take_request(const ConnectionManager::Event& event) noexcept;
  void take_cm_events() noexcept;
  void take_disconnects() noexcept;
  void send_greetings() noexcept;

  const Environment& env_;
  Losses& losses_;
  const CreditCounters& counters_;
  Requests& requests_;
  ReceiveBuffers& receive_;
  Messages& messages_;
  Rails& rails_;
  Rank ranks_;
  DatagramListener listener_;
  ConnectionManager manager_;  // on iWARP, instead of the listener; destroyed after the connections
  std::vector<Address> addresses_;
  std::vector<std::unique_ptr<Connection>> by_peer_;
  ConnectionMap by_pair_;
  std::vector<Connection*> connecting_;
  std::vector<Connection*>
      to_greet_;  // iWARP: I requested the connection, and the peer waits for the first message
  std::vector<Connection*> disconnects_;      // iWARP: connections that the peer or the network has ended
  std::vector<Connection*> disconnects_now_;  // those that are being handled
  std::uint32_t polls_unchecked_ = 0;         // polls since librdmacm was last asked for events
};

}  // namespace aqueduct::conduits::ibv
