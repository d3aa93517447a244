// Connections by datagrams: each side sends a Hello with the number of its queue pair, and repeats it until it knows
// that the other side's queue pair is connected. Both sides may start at once.

#include "conduits/ibv/connections.hpp"

#include "conduits/ibv/errors.hpp"
#include "conduits/ibv/queue_pair.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>

namespace aqueduct::conduits::ibv {
namespace {

// Chosen: a datagram and its answer take about 10 us if both sides poll; a peer that computes answers later.
constexpr std::chrono::milliseconds kFirstPause{2};
constexpr std::chrono::milliseconds kLongestPause{200};

}  // namespace

Status Connections::open() {
  if (env_.port.iwarp()) {
    const int error = manager_.open(env_.verbs, env_.port, env_.ranks, env_.objects.channel->fd);
    if (error == EADDRNOTAVAIL) {
      env_.log.error("ibv: rank {}: {} is iWARP, and its network interface has no IP address that is up",
                     env_.me, env_.port.device);
      return ErrorCode::not_supported;
    }
    return error == 0 ? Status{} : env_.refused("to listen for connections (librdmacm)", error);
  }
  const int error = listener_.open();
  return error == 0 ? Status{} : env_.refused("a datagram queue pair", error);
}

void Connections::tell(Address& address) const noexcept {
  if (manager_.is_open()) {
    manager_.tell(address);
  } else {
    address.listener = listener_.number();
  }
}

std::optional<core::Clock::time_point> Connections::next_hello() const noexcept {
  std::optional<core::Clock::time_point> next = listener_.next_start();
  if (connecting_.empty()) return next;
  const auto hello = std::ranges::min(connecting_, {}, &Connection::next_hello)->next_hello;
  return next ? std::min(*next, hello) : hello;
}

void Connections::close(Connection& connection) noexcept {
  connection.ready = false;
  connection.held_request.reset();
  connection.cm_id.reset();
  connection.pair.reset();
}

Connection* Connections::make_connection(Rank peer) noexcept try {
  auto connection = std::make_unique<Connection>(peer, env_.sizes().depth);
  MadePair made = make_pair(env_.verbs, env_.objects, env_.port, env_.options);
  if (made.pair == nullptr) {
    const int error = errno;
    env_.log.error("ibv: rank {}: {} gives no queue pair for rank {}: {} (it has {} in all). {}", env_.me,
                   env_.port.device, peer, std::strerror(error), env_.port.limits.max_qp,
                   advice_for_errno(error));
    losses_.suspect(peer, "there is no queue pair for it");
    return nullptr;
  }
  connection->pair = std::move(made.pair);
  requests_.set_inline_bytes(made.inline_bytes);
  connection->first = first_of(connection->pair->qp_num, env_.me);
  const std::int64_t granted_to_peer = receive_.add(*connection, env_.options.credits);
  if (granted_to_peer < 0) {
    const int error = static_cast<int>(-granted_to_peer);
    env_.log.error("ibv: rank {}: no room for messages of rank {}: {}. {}", env_.me, peer,
                   std::strerror(error), advice_for_errno(error));
    losses_.suspect(peer, "there is no memory for its messages");
    return nullptr;
  }
  connection->granted_to_peer = static_cast<std::uint32_t>(granted_to_peer);
  by_pair_.add(connection->pair->qp_num, *connection);
  rails_.make(peer);
  by_peer_[peer] = std::move(connection);
  env_.log.debug("ibv: rank {}: queue pair {} for rank {}, {} bytes inline", env_.me,
                 by_peer_[peer]->pair->qp_num, peer, requests_.inline_bytes());
  return by_peer_[peer].get();
} catch (const std::bad_alloc&) {
  env_.log.error(
      "ibv: rank {}: there is no memory for a connection with rank {}: raise the limit (ulimit -v, "
      "vm.overcommit_memory), lower AQUEDUCT_IBV_CREDITS or AQUEDUCT_IBV_DEPTH, or start fewer ranks on each "
      "host",
      env_.me, peer);
  losses_.suspect(peer, "there is no memory for a connection with it");
  return nullptr;
}

// Starts the connection, unless it is being made already. Returns null, except for the connection with this rank
// itself.
Connection* Connections::start_connecting(Rank peer) noexcept {
  if (losses_.is_out_of_reach(peer)) return nullptr;
  Connection* connection = by_peer_[peer].get();
  if (connection == nullptr && (connection = make_connection(peer)) == nullptr) return nullptr;
  if (peer == env_.me) {  // for atomics: all of them must go through the adapter
    Hello mine;
    mine.pair = connection->pair->qp_num;
    mine.first = connection->first;
    mine.counter = counters_.address_for(peer);
    mine.counter_key = counters_.remote_key();
    if (!connect_queue_pair(*connection, mine)) return nullptr;
    connection->ready = true;
    return connection;
  }
  const bool by_cm = manager_.is_open();
  if (connection->connecting) return nullptr;
  connection->connecting = true;
  connection->pause = kFirstPause;
  connecting_.push_back(connection);
  if (!by_cm) {
    send_hello(*connection);
  } else if (!connection->connected) {  // otherwise the peer requested it, and that request is being answered
    request_connection(*connection);
  }
  return nullptr;
}

// Stores what the peer's Hello says of its side.
void Connections::learn(Connection& connection, const Hello& hello) noexcept {
  connection.granted = hello.credits;
  connection.counts = can_count() && hello.credits <= BesidePut::kMostCredits;
  connection.peer_counts = hello.counts != 0 && connection.granted_to_peer <= BesidePut::kMostCredits;
  connection.counter = hello.counter;
  connection.counter_key = hello.counter_key;
}

Hello Connections::hello_for(const Connection& connection) const noexcept {
  Hello hello;
  hello.job = env_.job;
  hello.from = env_.me;
  hello.pair = connection.pair->qp_num;
  hello.first = connection.first;
  hello.counter = counters_.address_for(connection.peer);
  hello.counter_key = counters_.remote_key();
  hello.credits = connection.granted_to_peer;
  hello.counts = can_count() ? 1 : 0;
  return hello;
}

void Connections::send_hello(Connection& connection) noexcept {
  connection.next_hello = env_.clock.now() + connection.pause;
  if (!make_address_handle(connection)) {
    connection.next_hello = connection.next_way;
    return;
  }
  Hello hello = hello_for(connection);
  hello.understood = connection.connected ? 1 : 0;
  hello.both = connection.ready ? 1 : 0;
  for (std::size_t i = 0; i < rails_.size(); ++i) hello.rails[i] = rails_[i].pair_of(connection.peer);
  static_cast<void>(listener_.send(hello, *connection.address_handle, addresses_[connection.peer].listener));
}

void Connections::take_hello(const Hello& hello) noexcept {
  const Rank peer = hello.from;
  if (peer >= by_peer_.size() || peer == env_.me || losses_.is_gone(peer)) return;
  Connection* connection = by_peer_[peer].get();
  if (connection == nullptr && (connection = make_connection(peer)) == nullptr) return;
  if (connection->pair == nullptr || (!connection->connected && !connect_queue_pair(*connection, hello)))
    return;
  if (hello.understood != 0) connection->ready = true;
  if (hello.both == 0) send_hello(*connection);
}

void Connections::retry_connecting() noexcept {
  std::erase_if(connecting_, [](Connection* connection) {
    if (!connection->ready && connection->pair != nullptr) return false;
    connection->connecting = false;
    return true;
  });
  if (connecting_.empty()) return;
  const auto now = env_.clock.now();
  for (Connection* const connection : connecting_) {
    if (connection->next_hello > now) continue;
    if (manager_.is_open()) {
      request_connection(*connection);
      continue;
    }
    connection->pause = std::min<std::chrono::nanoseconds>(2 * connection->pause, kLongestPause);
    send_hello(*connection);
  }
}

}  // namespace aqueduct::conduits::ibv
