#pragma once

#include "coll/model/loggp.hpp"
#include "sim/topology.hpp"

#include <cstdint>
#include <vector>

namespace aqueduct::sim {

/// When links are taken. A message takes a link while it is idle, from the coming of its head on; if others have taken times after
/// that already, it goes in between them, in pieces if need be.
///
/// Messages are looked at in the order in which they enter the network, so one that comes to a link late may have taken its time there
/// before one that comes early is looked at. Without the times in between, such links would stand idle: by ten times for
/// packets that are short beside the latency of a link.
/// Cost: O(1), plus the idle times between now and the last message. 12 bytes for a link, 24 for an idle time.
class LinkTimes {
 public:
  using Picoseconds = coll::Picoseconds;

  explicit LinkTimes(Link links) : links_(links) {}

  struct Taken {
    Picoseconds begin;
    Picoseconds end;
  };
  /// Takes `length` of the link's time from `head` on. `now`: no later message has a head before it.
  Taken take(Link link, Picoseconds now, Picoseconds head, Picoseconds length) {
    Times& times = links_[link];
    if (times.idle == kNone && head >= times.free) {
      if (length == 0) return {head, head};
      const Picoseconds was_free = times.free;
      times.free = head + length;
      if (head > was_free && head > now) times.idle = add(was_free, head, kNone);
      return {head, head + length};
    }
    return take_between(times, now, head, length);
  }

 private:
  static constexpr std::uint32_t kNone = 0xffffffff;
  struct Times {
    Picoseconds free = 0;        ///< after all that has been taken
    std::uint32_t idle = kNone;  ///< the first idle time before `free`
  };
  struct Idle {
    Picoseconds begin;
    Picoseconds end;
    std::uint32_t next;
  };

  Taken take_between(Times& times, Picoseconds now, Picoseconds head, Picoseconds length);
  std::uint32_t add(Picoseconds begin, Picoseconds end, std::uint32_t next);

  std::vector<Times> links_;
  std::vector<Idle> idle_;
  std::uint32_t unused_ = kNone;  ///< the first of those that are no idle time now
};

}  // namespace aqueduct::sim
