#include "sim/shared_links.hpp"

#include <algorithm>

namespace aqueduct::sim {

using coll::Picoseconds;

void SharedLinks::begin() {
  messages_ = hops_ = 0;
  times_ = LinkTimes(topology_.links());
  bytes_.assign(topology_.links(), 0);
}

Picoseconds SharedLinks::arrival(Picoseconds entered, Rank from, Rank to, std::uint64_t bytes,
                                 const coll::LogGP& link) {
  const Host source = places_[from];
  const Host target = places_[to];
  if (source == target) return entered + link.latency;
  topology_.find(source, target, by_chance(seed_, messages_++), route_);
  Picoseconds head = entered + link.latency;
  Picoseconds tail = head;
  const coll::LogGP host{.femtoseconds_per_byte = of_hosts_.femtoseconds_per_byte};
  const coll::LogGP inner{.femtoseconds_per_byte = of_switches_.femtoseconds_per_byte};
  const Picoseconds on_host = host.bytes_time(bytes);
  const Picoseconds on_inner = inner.bytes_time(bytes);
  for (const Link number : route_.links()) {
    const bool of_host = topology_.is_of_host(number);
    const LinkSpeed& speed = of_host ? of_hosts_ : of_switches_;
    const Picoseconds length = of_host ? on_host : on_inner;
    const LinkTimes::Taken taken = times_.take(number, entered, head, speed.gap + length);
    bytes_[number] += bytes;
    tail = std::max(tail, taken.end - speed.gap) + speed.hop;
    head = taken.begin + speed.hop;
  }
  hops_ += route_.links().size();
  // The port receives at its own speed, so a slower link shows as a later head.
  const Picoseconds at_port = link.bytes_time(bytes);
  return std::max(head, tail - std::min(tail, at_port));
}

}  // namespace aqueduct::sim
