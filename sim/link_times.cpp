#include "sim/link_times.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace aqueduct::sim {

LinkTimes::Taken LinkTimes::take_between(Times& times, Picoseconds now, Picoseconds head,
                                         Picoseconds length) {
  if (times.idle != kNone) forget_passed(times, now);
  if (times.idle == kNone) return take_after(times, head, length);
  List& list = lists_[times.idle];
  std::vector<Idle>& idle = list.idle;
  const auto ends_before = [](const Idle& entry, Picoseconds time) { return entry.end <= time; };
  const auto first = std::lower_bound(idle.begin() + static_cast<std::ptrdiff_t>(list.passed), idle.end(),
                                      head, ends_before);
  if (first == idle.end()) return take_after(times, head, length);
  Taken taken{std::max(first->begin, head), std::max(first->begin, head)};
  if (length == 0) return taken;
  Picoseconds left = length;
  auto last = first;  // the idle time that the message ends in
  for (; last != idle.end(); ++last) {
    const Picoseconds begin = std::max(last->begin, head);
    taken.end = begin + std::min(left, last->end - begin);
    left -= taken.end - begin;
    if (left == 0) break;
  }
  // What stays idle: before the message, after it, both or nothing.
  std::array<Idle, 2> rest{};
  std::ptrdiff_t rests = 0;
  if (taken.begin > first->begin) rest[static_cast<std::size_t>(rests++)] = {first->begin, taken.begin};
  if (left > 0) {
    taken.end = times.free += left;
  } else {
    if (taken.end < last->end) rest[static_cast<std::size_t>(rests++)] = {taken.end, last->end};
    ++last;
  }
  if (rests > last - first) {
    *first = rest[0];
    idle.insert(first + 1, rest[1]);
  } else {
    idle.erase(std::copy_n(rest.begin(), rests, first), last);
  }
  return taken;
}

LinkTimes::Taken LinkTimes::take_after(Times& times, Picoseconds head, Picoseconds length) {
  const Picoseconds begin = std::max(head, times.free);
  if (begin > times.free) {
    if (times.idle == kNone)
      add_first(times, {times.free, begin});
    else
      lists_[times.idle].idle.push_back({times.free, begin});
  }
  times.free = begin + length;
  return {begin, times.free};
}

void LinkTimes::add_first(Times& times, Idle idle) {
  if (unused_.empty()) {
    times.idle = static_cast<std::uint32_t>(lists_.size());
    lists_.emplace_back();
  } else {
    times.idle = unused_.back();
    unused_.pop_back();
  }
  lists_[times.idle].idle.push_back(idle);
}

/// Nobody comes any more before `now`. What is over is taken out of the list when it is half of it.
void LinkTimes::forget_passed(Times& times, Picoseconds now) {
  List& list = lists_[times.idle];
  while (list.passed < list.idle.size() && list.idle[list.passed].end <= now) ++list.passed;
  if (list.passed == list.idle.size()) {
    list.idle.clear();
    list.passed = 0;
    unused_.push_back(std::exchange(times.idle, kNone));
  } else if (2 * list.passed >= list.idle.size()) {
    list.idle.erase(list.idle.begin(), list.idle.begin() + static_cast<std::ptrdiff_t>(list.passed));
    list.passed = 0;
  }
}

}  // namespace aqueduct::sim
