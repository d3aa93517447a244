// Connections on iWARP, by librdmacm: one side requests a connection and sends a Hello along; the other accepts with
// its own. If both request at once, the lower rank's request wins: it rejects the other one, which holds the lower
// rank's request until then.
//
// A queue pair that took part in a failed attempt cannot be used again, so each attempt gets a new one.

#include "conduits/ibv/connections.hpp"
#include "conduits/ibv/errors.hpp"
#include "conduits/ibv/queue_pair.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace aqueduct::conduits::ibv {
namespace {

constexpr std::chrono::milliseconds kLongestPauseToCall{200};
// Chosen: refusals in a row, within about a second, after which the peer's process is gone. A peer that computes for
// long does not refuse: the request times out, and is repeated.
constexpr std::uint32_t kMostRefusals = 10;
// Chosen: asking librdmacm for events is a system call, so not every poll does it.
constexpr std::uint32_t kPollsUnchecked = 32;

}  // namespace

// After a failed attempt: makes a new queue pair for the next one. False: the device gives none.
bool Connections::renew(Connection& connection) noexcept {
  by_pair_.remove(connection.pair->qp_num);
  connection.cm_id.reset();
  connection.pair.reset();
  connection.requested = connection.connected = connection.ready = false;
  MadePair made = make_pair(env_.verbs, env_.objects, env_.port, env_.options);
  const int error = made.pair != nullptr ? 0 : errno;
  if (made.pair != nullptr) {
    connection.pair = std::move(made.pair);
    by_pair_.add(connection.pair->qp_num, connection);
  }
  if (error == 0 && receive_.post_again(connection)) return true;
  env_.log.error("ibv: rank {}: {} gives no queue pair for rank {}: {}", env_.me, env_.port.device,
                 connection.peer, std::strerror(error != 0 ? error : ENOMEM));
  losses_.suspect(connection.peer, "there is no queue pair for it");
  return false;
}

void Connections::request_connection(Connection& connection) noexcept {
  connection.next_hello = core::Clock::time_point::max();  // until an event ends this attempt
  connection.cm_id = manager_.start_request(addresses_[connection.peer]);
  connection.requested = connection.cm_id != nullptr;
  if (connection.cm_id == nullptr) connection.next_hello = env_.clock.now() + connection.pause;
}

// After a failed attempt: accepts the request that is held, or tries again later.
void Connections::retry_later(Connection& connection) noexcept {
  if (!renew(connection)) return;
  if (connection.held_request != nullptr)
    return accept(connection, std::exchange(connection.held_request, nullptr), connection.held_hello);
  connection.pause = std::min<std::chrono::nanoseconds>(2 * connection.pause, kLongestPauseToCall);
  connection.next_hello = env_.clock.now() + connection.pause;
}

void Connections::accept(Connection& connection, CmId request, const Hello& hello) noexcept {
  learn(connection, hello);
  connection.cm_id = std::move(request);
  connection.requested = false;
  connection.connected = true;
  connection.next_hello = core::Clock::time_point::max();
  if (const int error = manager_.accept(*connection.cm_id, hello_for(connection), env_.sizes()); error != 0) {
    env_.log.debug("ibv: rank {}: the call of rank {} cannot be answered: {}", env_.me, connection.peer,
                   std::strerror(error));
    retry_later(connection);
  }
}

void Connections::take_request(const ConnectionManager::Event& event) noexcept {
  CmId request = manager_.own(event.id);
  const Hello hello = event.hello.value_or(Hello{});
  const Rank peer = hello.from;
  const bool known = event.hello && hello.job == env_.job && hello.wire_version == kWireVersion &&
                     peer < by_peer_.size() && peer != env_.me && !losses_.is_gone(peer) &&
                     !losses_.is_broken();
  Connection* connection = known ? by_peer_[peer].get() : nullptr;
  if (known && connection == nullptr) connection = make_connection(peer);
  // Rejects a request if there is a connection already, or if my own request wins because my rank is lower.
  const bool wanted = connection != nullptr && connection->pair != nullptr && !connection->connected &&
                      !(connection->requested && env_.me < peer);
  if (!wanted) return manager_.reject(*request);
  if (connection->requested) {  // my rank is higher: the peer will reject my request
    connection->held_hello = hello;
    connection->held_request = std::move(request);
    return;
  }
  accept(*connection, std::move(request), hello);
}

void Connections::take_cm_events() noexcept {
  while (const auto event = manager_.next()) {
    if (event->what == RDMA_CM_EVENT_CONNECT_REQUEST) {
      take_request(*event);
      continue;
    }
    const auto of_this = [&](const auto& connection) {
      return connection != nullptr && connection->cm_id.get() == event->id;
    };
    const auto found = std::ranges::find_if(by_peer_, of_this);
    if (found == by_peer_.end()) continue;
    Connection& connection = **found;
    int error = 0;
    switch (event->what) {
      case RDMA_CM_EVENT_ADDR_RESOLVED: error = manager_.resolve_route(*event->id); break;
      case RDMA_CM_EVENT_ROUTE_RESOLVED:
        error = manager_.connect(*event->id, hello_for(connection), env_.sizes());
        break;
      case RDMA_CM_EVENT_ESTABLISHED:
        if (connection.requested && !event->hello) {
          error = EPROTO;
          break;
        }
        // The side that accepted must not send first (RFC 5044, section 7.1.2): it waits for a message from this side.
        if (connection.requested) {
          learn(connection, *event->hello);
          connection.ready = true;
          to_greet_.push_back(&connection);
        }
        connection.requested = false;
        connection.connected = true;
        if (connection.held_request != nullptr) manager_.reject(*connection.held_request);
        connection.held_request.reset();
        break;
      case RDMA_CM_EVENT_DISCONNECTED:
      case RDMA_CM_EVENT_ADDR_ERROR:
      case RDMA_CM_EVENT_ROUTE_ERROR:
      case RDMA_CM_EVENT_CONNECT_ERROR:
      case RDMA_CM_EVENT_UNREACHABLE:
      case RDMA_CM_EVENT_REJECTED: error = event->status != 0 ? std::abs(event->status) : ECONNRESET; break;
      case RDMA_CM_EVENT_DEVICE_REMOVAL: losses_.give_up("the device is being removed"); break;
      default: break;
    }
    if (error == 0) continue;
    if (std::exchange(connection.disconnected, error) == 0) disconnects_.push_back(&connection);
  }
}

void Connections::check_cm_events(bool woken) noexcept {
  if (woken || !connecting_.empty() || ++polls_unchecked_ >= kPollsUnchecked) {
    polls_unchecked_ = 0;
    take_cm_events();
  }
  if (!to_greet_.empty()) send_greetings();
}

void Connections::send_greetings() noexcept {
  std::erase_if(to_greet_, [&](Connection* connection) {
    if (connection->pair == nullptr || !connection->ready) return true;
    const core::Post post =
        messages_.send(*connection, PacketHead::Kind::greeting, {}, {}, OutstandingRequest::Kind::packet, 0);
    return post.kind != core::Post::Kind::retry;
  });
}

// Called when all completions are taken, because messages that a peer sent before it left must be delivered.
void Connections::take_disconnects() noexcept {
  disconnects_now_.clear();
  disconnects_now_.swap(disconnects_);  // both have room for every connection
  for (Connection* const connection : disconnects_now_) {
    const int why = std::exchange(connection->disconnected, 0);
    if (connection->pair == nullptr || losses_.is_gone(connection->peer)) continue;
    const bool used = connection->outstanding.next() != 0 || connection->heard;
    if (used) {
      losses_.suspect(connection->peer, "the connection has ended");
      continue;
    }
    env_.log.debug("ibv: rank {}: no connection with rank {} so far: {}", env_.me, connection->peer,
                   std::strerror(why));
    const bool refused = why == ECONNREFUSED && connection->held_request == nullptr;
    connection->refusals = refused ? connection->refusals + 1 : 0;
    if (connection->refusals >= kMostRefusals) {
      losses_.suspect(connection->peer, "its host refuses connections");
    } else {
      retry_later(*connection);
    }
  }
}

}  // namespace aqueduct::conduits::ibv
