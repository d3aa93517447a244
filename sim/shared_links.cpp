#include "sim/shared_links.hpp"

#include <algorithm>

namespace aqueduct::sim {

using coll::Picoseconds;

namespace {

// Chosen: of announced messages these are looked at again, when the first read of memory is over, and the second one.
constexpr std::size_t kSecondRead = 10;
constexpr std::size_t kLastRead = 5;

}  // namespace

void SharedLinks::begin() {
  messages_ = hops_ = 0;
  announced_ = 0;
  next_of_.assign(places_.size(), kNone);
  times_ = LinkTimes(topology_.links());
  bytes_.assign(topology_.links(), 0);
}

void SharedLinks::announce(Rank from, Rank to, bool part) {
  const Host source = places_[from];
  const Host target = places_[to];
  if (source == target) return;
  const std::uint64_t message = next_of_[from] == kNone ? messages_++ : next_of_[from];
  next_of_[from] = part ? message : kNone;
  Route& route = routes_[(first_ + announced_++) % kAnnounced];
  topology_.find(source, target, by_chance(seed_, message), route);
  for (const Link number : route.links()) {
    __builtin_prefetch(times_.first_read(number));
    __builtin_prefetch(&bytes_[number]);
  }
}

Picoseconds SharedLinks::arrival(Picoseconds entered, Rank from, Rank to, std::uint64_t bytes,
                                 const coll::LogGP& link) {
  const Host source = places_[from];
  const Host target = places_[to];
  if (source == target) return entered + link.latency;
  if (announced_ == 0) announce(from, to, /*part=*/false);
  const Route& route = routes_[first_];
  if (kSecondRead < announced_) {
    for (const Link number : routes_[(first_ + kSecondRead) % kAnnounced].links())
      __builtin_prefetch(times_.then_read(number));
  }
  if (kLastRead < announced_) {
    for (const Link number : routes_[(first_ + kLastRead) % kAnnounced].links())
      __builtin_prefetch(times_.last_read(number));
  }
  first_ = (first_ + 1) % kAnnounced;
  --announced_;
  Picoseconds head = entered + link.latency;
  Picoseconds tail = head;
  const coll::LogGP host{.femtoseconds_per_byte = of_hosts_.femtoseconds_per_byte};
  const coll::LogGP inner{.femtoseconds_per_byte = of_switches_.femtoseconds_per_byte};
  const Picoseconds on_host = host.bytes_time(bytes);
  const Picoseconds on_inner = inner.bytes_time(bytes);
  for (const Link number : route.links()) {
    const bool of_host = topology_.is_of_host(number);
    const LinkSpeed& speed = of_host ? of_hosts_ : of_switches_;
    const Picoseconds length = of_host ? on_host : on_inner;
    const LinkTimes::Taken taken = times_.take(number, entered, head, speed.gap + length);
    bytes_[number] += bytes;
    tail = std::max(tail, taken.end - speed.gap) + speed.hop;
    head = taken.begin + speed.hop;
  }
  hops_ += route.links().size();
  // The port receives at its own speed, so a slower link shows as a later head.
  const Picoseconds at_port = link.bytes_time(bytes);
  return std::max(head, tail - std::min(tail, at_port));
}

}  // namespace aqueduct::sim
