// The way to a peer: on RoCE the device asks the system for the peer's hardware address, which may wait for seconds, and fails while a
// link is down or the peer's host does not answer. So a failure is no loss yet: the way is tried for again, for a limited time.

#include "conduits/ibv/connections.hpp"
#include "conduits/ibv/queue_pair.hpp"

#include <cerrno>
#include <cstring>

#include <arpa/inet.h>

namespace aqueduct::conduits::ibv {
namespace {

// Chosen: three times what Linux asks for a neighbour before it gives up, and enough for a link that comes up.
constexpr std::chrono::seconds kTryWaysFor{10};
// Chosen: this thread may be stopped for the whole of an attempt, and does other work between two of them.
constexpr std::chrono::milliseconds kPauseOfWays{200};

/// Whether the same call may succeed later. Libraries of devices leave 0 where they do not know.
bool way_may_come(int error) noexcept {
  switch (error) {
    case 0:
    case EAGAIN:
    case EINTR:
    case EADDRNOTAVAIL:
    case ENETDOWN:
    case ENETUNREACH:
    case EHOSTDOWN:
    case EHOSTUNREACH:
    case ETIMEDOUT:
    case ENODATA: return true;
    default: return false;
  }
}

const char* words_of_no_way(int error) noexcept {
  return error != 0 ? std::strerror(error) : "the device's library gives no reason";
}

}  // namespace

bool Connections::may_try_way(const Connection& connection) const noexcept {
  return env_.clock.now() >= connection.next_way;
}

void Connections::found_way(Connection& connection) noexcept {
  if (connection.way_until != core::Clock::time_point{})
    env_.log.info("ibv: rank {}: {} has found a way to rank {}", env_.me, env_.port.device, connection.peer);
  connection.way_until = {};
}

void Connections::found_no_way(Connection& connection, int error) noexcept {
  if (losses_.is_out_of_reach(connection.peer)) return;
  char gid[INET6_ADDRSTRLEN] = "?";
  ::inet_ntop(AF_INET6, addresses_[connection.peer].gid.data(), gid, sizeof gid);
  const auto now = env_.clock.now();
  // Anew also after a long time without an attempt, as while no request of the peer comes.
  const bool is_first =
      connection.way_until == core::Clock::time_point{} || now - connection.next_way > kTryWaysFor;
  if (is_first) connection.way_until = now + kTryWaysFor;
  connection.next_way = now + kPauseOfWays;
  if (way_may_come(error) && now < connection.way_until) {
    if (is_first)
      env_.log.warn(
          "ibv: rank {}: {} ({}) finds no way to rank {} ({}): {}. It tries again for {} s. Are both links "
          "up "
          "(rdma link, ip link)?",
          env_.me, env_.port.device, env_.port.gid_text, connection.peer, gid, words_of_no_way(error),
          kTryWaysFor.count());
    return;
  }
  env_.log.error(
      "ibv: rank {}: {} ({}) knows no way to rank {} ({}): {}. Do both hosts' ports have addresses of one "
      "network (AQUEDUCT_IBV_GID, AQUEDUCT_IBV_DEVICE), and are both links up (rdma link, ip link)?",
      env_.me, env_.port.device, env_.port.gid_text, connection.peer, gid, words_of_no_way(error));
  losses_.suspect(connection.peer, "there is no way to it");
}

bool Connections::make_address_handle(Connection& connection) noexcept {
  if (connection.address_handle != nullptr) return true;
  if (!may_try_way(connection)) return false;
  ibv_ah_attr way = address_vector(addresses_[connection.peer], env_.port, env_.options);
  errno = 0;
  connection.address_handle = {env_.verbs.create_ah(env_.objects.domain.get(), &way),
                               {env_.verbs.destroy_ah}};
  if (connection.address_handle == nullptr) {
    found_no_way(connection, errno);
    return false;
  }
  if (connection.connected) found_way(connection);  // else the queue pair has yet to find it
  return true;
}

bool Connections::connect_queue_pair(Connection& connection, const Hello& hello) noexcept {
  if (!may_try_way(connection)) return false;
  const int error = connect_pair(env_.verbs, *connection.pair, env_.objects, env_.port, env_.options,
                                 addresses_[connection.peer], hello, connection.first);
  if (error != 0) {
    found_no_way(connection, error);
    return false;
  }
  found_way(connection);
  rails_.connect(connection.peer, hello);
  connection.connected = true;
  learn(connection, hello);
  return true;
}

}  // namespace aqueduct::conduits::ibv
