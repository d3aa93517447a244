#include "sim/link_times.hpp"

#include <algorithm>

namespace aqueduct::sim {

LinkTimes::Taken LinkTimes::take_between(Times& times, Picoseconds now, Picoseconds head,
                                         Picoseconds length) {
  std::uint32_t previous = kNone;
  std::uint32_t at = times.idle;
  const auto link_to = [&](std::uint32_t to) {
    (previous == kNone ? times.idle : idle_[previous].next) = to;
  };
  Taken taken{0, 0};
  bool begun = false;
  Picoseconds left = length;
  while (at != kNone) {
    Idle& idle = idle_[at];
    const std::uint32_t next = idle.next;
    if (idle.end <= now) {  // nobody comes that early any more
      idle.next = unused_;
      unused_ = at;
      link_to(next);
      at = next;
      continue;
    }
    const Picoseconds begin = std::max(idle.begin, head);
    if (begin >= idle.end) {
      previous = at;
      at = next;
      continue;
    }
    if (length == 0) return {begin, begin};
    if (!begun) taken.begin = begin;
    begun = true;
    const Picoseconds end = begin + std::min(left, idle.end - begin);
    left -= end - begin;
    taken.end = end;
    // What stays idle: before, after, both or nothing.
    if (begin > idle.begin) {
      const Picoseconds after = idle.end;
      idle.end = begin;
      previous = at;
      if (end < after) {
        const std::uint32_t rest = add(end, after, next);  // may move `idle`
        idle_[previous].next = rest;
        previous = rest;
      }
    } else if (end < idle.end) {
      idle.begin = end;
      previous = at;
    } else {
      idle.next = unused_;
      unused_ = at;
      link_to(next);
    }
    if (left == 0) return taken;
    at = next;
  }
  const Picoseconds begin = std::max(head, times.free);
  if (begin > times.free) link_to(add(times.free, begin, kNone));
  if (!begun) taken.begin = begin;
  times.free = taken.end = begin + left;
  return taken;
}

std::uint32_t LinkTimes::add(Picoseconds begin, Picoseconds end, std::uint32_t next) {
  if (unused_ == kNone) {
    idle_.push_back({begin, end, next});
    return static_cast<std::uint32_t>(idle_.size() - 1);
  }
  const std::uint32_t at = unused_;
  unused_ = idle_[at].next;
  idle_[at] = {begin, end, next};
  return at;
}

}  // namespace aqueduct::sim
