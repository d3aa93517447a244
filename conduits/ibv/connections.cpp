// Connections by datagrams: each side sends a Hello with the number of its queue pair, and repeats it until it knows
// that the other side's queue pair is connected. Both sides may start at once.

#include "conduits/ibv/connections.hpp"

#include "conduits/ibv/errors.hpp"
#include "conduits/ibv/queue_pair.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

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
  const int error =
      listener_.open(env_.verbs, *env_.objects.domain, *env_.objects.queue, env_.port, env_.job);
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
  if (connecting_.empty()) return std::nullopt;
  return std::ranges::min(connecting_, {}, &Link::next_hello)->next_hello;
}

void Connections::close(Link& link) noexcept {
  link.ready = false;
  link.held_request.reset();
  link.cm_id.reset();
  link.pair.reset();
}

Link* Connections::make_link(Rank peer) noexcept {
  auto link = std::make_unique<Link>(peer, env_.sizes().depth);
  MadePair made = make_pair(env_.verbs, env_.objects, env_.port, env_.options);
  if (made.pair == nullptr) {
    const int error = errno;
    env_.log.error("ibv: rank {}: {} gives no queue pair for rank {}: {} (it has {} in all). {}", env_.me,
                   env_.port.device, peer, std::strerror(error), env_.port.limits.max_qp,
                   advice_for_errno(error));
    losses_.suspect(peer, "there is no queue pair for it");
    return nullptr;
  }
  link->pair = std::move(made.pair);
  requests_.set_inline_bytes(made.inline_bytes);
  link->first = first_of(link->pair->qp_num, env_.me);
  const std::int64_t granted_to_peer = receive_.add(*link, env_.options.credits);
  if (granted_to_peer < 0) {
    const int error = static_cast<int>(-granted_to_peer);
    env_.log.error("ibv: rank {}: no room for messages of rank {}: {}. {}", env_.me, peer,
                   std::strerror(error), advice_for_errno(error));
    losses_.suspect(peer, "there is no memory for its messages");
    return nullptr;
  }
  link->granted_to_peer = static_cast<std::uint32_t>(granted_to_peer);
  by_pair_.add(link->pair->qp_num, *link);
  rails_.make(peer);
  links_[peer] = std::move(link);
  env_.log.debug("ibv: rank {}: queue pair {} for rank {}, {} bytes inline", env_.me,
                 links_[peer]->pair->qp_num, peer, requests_.inline_bytes());
  return links_[peer].get();
}

bool Connections::make_address_handle(Link& link) noexcept {
  if (link.address_handle != nullptr) return true;
  ibv_ah_attr way = address_vector(addresses_[link.peer], env_.port, env_.options);
  link.address_handle = {env_.verbs.create_ah(env_.objects.domain.get(), &way), {env_.verbs.destroy_ah}};
  if (link.address_handle != nullptr) return true;
  env_.log.error(
      "ibv: rank {}: {} knows no way to rank {}: {}. Do both hosts' ports have addresses of one network "
      "(AQUEDUCT_IBV_GID, AQUEDUCT_IBV_DEVICE)?",
      env_.me, env_.port.device, link.peer, std::strerror(errno));
  losses_.suspect(link.peer, "there is no way to it");
  return false;
}

// Starts the connection, unless it is being made already. Returns null, except for the connection with this rank
// itself.
Link* Connections::start_connecting(Rank peer) noexcept {
  if (losses_.is_out_of_reach(peer)) return nullptr;
  Link* link = links_[peer].get();
  if (link == nullptr && (link = make_link(peer)) == nullptr) return nullptr;
  if (peer == env_.me) {  // for atomics: all of them must go through the adapter
    Hello mine;
    mine.pair = link->pair->qp_num;
    mine.first = link->first;
    mine.counter = counters_.address_for(peer);
    mine.counter_key = counters_.remote_key();
    if (!connect_queue_pair(*link, mine)) return nullptr;
    link->ready = true;
    return link;
  }
  const bool by_cm = manager_.is_open();
  if (link->connecting || (!by_cm && !make_address_handle(*link))) return nullptr;
  link->connecting = true;
  link->pause = kFirstPause;
  connecting_.push_back(link);
  if (!by_cm) {
    send_hello(*link);
  } else if (!link->connected) {  // otherwise the peer requested it, and that request is being answered
    request_connection(*link);
  }
  return nullptr;
}

bool Connections::connect_queue_pair(Link& link, const Hello& hello) noexcept {
  const int error = connect_pair(env_.verbs, *link.pair, env_.objects, env_.port, env_.options,
                                 addresses_[link.peer], hello, link.first);
  if (error != 0) {
    env_.log.error(
        "ibv: rank {}: {} does not connect a queue pair with rank {}: {}. Do both hosts' ports have "
        "addresses "
        "of one network (AQUEDUCT_IBV_GID, AQUEDUCT_IBV_DEVICE)?",
        env_.me, env_.port.device, link.peer, std::strerror(error));
    losses_.suspect(link.peer, "it cannot be connected with");
    return false;
  }
  rails_.connect(link.peer, hello);
  link.connected = true;
  learn(link, hello);
  return true;
}

// Stores what the peer's Hello says of its side.
void Connections::learn(Link& link, const Hello& hello) noexcept {
  link.granted = hello.credits;
  link.counts = can_count() && hello.credits <= BesidePut::kMostCredits;
  link.peer_counts = hello.counts != 0 && link.granted_to_peer <= BesidePut::kMostCredits;
  link.counter = hello.counter;
  link.counter_key = hello.counter_key;
}

Hello Connections::hello_for(const Link& link) const noexcept {
  Hello hello;
  hello.job = env_.job;
  hello.from = env_.me;
  hello.pair = link.pair->qp_num;
  hello.first = link.first;
  hello.counter = counters_.address_for(link.peer);
  hello.counter_key = counters_.remote_key();
  hello.credits = link.granted_to_peer;
  hello.counts = can_count() ? 1 : 0;
  return hello;
}

void Connections::send_hello(Link& link) noexcept {
  Hello hello = hello_for(link);
  hello.understood = link.connected ? 1 : 0;
  hello.both = link.ready ? 1 : 0;
  for (std::size_t i = 0; i < rails_.size(); ++i) hello.rails[i] = rails_[i].pair_of(link.peer);
  static_cast<void>(listener_.send(hello, *link.address_handle, addresses_[link.peer].listener));
  link.next_hello = env_.clock.now() + link.pause;
}

void Connections::take_hello(const Hello& hello) noexcept {
  const Rank peer = hello.from;
  if (peer >= links_.size() || peer == env_.me || losses_.is_gone(peer)) return;
  Link* link = links_[peer].get();
  if (link == nullptr && (link = make_link(peer)) == nullptr) return;
  if (link->pair == nullptr || (!link->connected && !connect_queue_pair(*link, hello))) return;
  if (hello.understood != 0) link->ready = true;
  if (hello.both == 0 && make_address_handle(*link)) send_hello(*link);
}

void Connections::retry_connecting() noexcept {
  std::erase_if(connecting_, [](Link* link) {
    if (!link->ready && link->pair != nullptr) return false;
    link->connecting = false;
    return true;
  });
  if (connecting_.empty()) return;
  const auto now = env_.clock.now();
  for (Link* const link : connecting_) {
    if (link->next_hello > now) continue;
    if (manager_.is_open()) {
      request_connection(*link);
      continue;
    }
    link->pause = std::min<std::chrono::nanoseconds>(2 * link->pause, kLongestPause);
    send_hello(*link);
  }
}

}  // namespace aqueduct::conduits::ibv
