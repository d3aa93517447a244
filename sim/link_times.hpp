#pragma once

#include "coll/model/loggp.hpp"
#include "sim/topology.hpp"

#include <cstddef>
#include <vector>

namespace aqueduct::sim {

/// When links are taken. A message takes a link while it is idle, from the coming of its head on; if others have taken times after
/// that already, it goes in between them, in pieces if need be.
///
/// Messages are looked at in the order in which they enter the network, so one that comes to a link late may have taken its time there
/// before one that comes early is looked at. Without the times in between, such links would stand idle: by ten times for
/// packets that are short beside the latency of a link.
/// Cost: O(1) if a link has no idle times between now and its last message; otherwise O(log of their number), and a move of those
/// after the place. 16 bytes for a link, 32 for one that has idle times, 16 for each of these.
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
      if (head > was_free && head > now) add_first(times, {was_free, head});
      return {head, head + length};
    }
    return take_between(times, now, head, length);
  }

  // What `take` of a link will read, from the first thing to the last, each found by the one before: to be fetched from memory.
  const void* first_read(Link link) const noexcept { return &links_[link]; }
  const void* then_read(Link link) const noexcept {
    const Times& times = links_[link];
    return times.idle == kNone ? first_read(link) : &lists_[times.idle];
  }
  const void* last_read(Link link) const noexcept {
    const Times& times = links_[link];
    if (times.idle == kNone) return first_read(link);
    const List& list = lists_[times.idle];
    return list.idle.data() + list.passed;
  }

 private:
  static constexpr std::uint32_t kNone = 0xffffffff;
  struct Idle {
    Picoseconds begin;
    Picoseconds end;
  };
  struct Times {
    Picoseconds free = 0;        ///< after all that has been taken
    std::uint32_t idle = kNone;  ///< the list of the idle times before `free`, if there are any
  };
  struct List {
    std::vector<Idle> idle;  ///< in their order
    std::size_t passed = 0;  ///< so many at the front are over
  };

  Taken take_between(Times& times, Picoseconds now, Picoseconds head, Picoseconds length);
  Taken take_after(Times& times, Picoseconds head, Picoseconds length);
  void add_first(Times& times, Idle idle);
  void forget_passed(Times& times, Picoseconds now);

  std::vector<Times> links_;
  std::vector<List> lists_;
  std::vector<std::uint32_t> unused_;  ///< lists of no link now
};

}  // namespace aqueduct::sim
