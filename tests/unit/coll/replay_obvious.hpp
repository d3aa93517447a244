#pragma once

// The conventions of the replay once more, as a list of events.

#include "coll/model/replay.hpp"
#include "coll/schedule/schedule.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

namespace aqueduct::coll::replays {

/// The conventions once more, as obvious as can be, for members with one lane that only put: one list of events in order.
class Obvious {
 public:
  Obvious(const Algorithm& algorithm, const Shape& shape, const Machine& machine,
          const std::vector<Picoseconds>& calls)
      : machine_(machine), members_(shape.ranks), counters_(Schedule::needs(algorithm, shape).counters) {
    for (Rank rank = 0; rank < shape.ranks; ++rank) {
      Member& member = members_[rank];
      const Schedule schedule(algorithm, shape, rank);
      for (std::uint32_t i = 0; i < schedule.length(0); ++i) member.steps.push_back(schedule.step(0, i));
      member.arrivals.resize(counters_);
      events_.insert({{calls[rank], 3, rank, number_++}, {}});
    }
  }
  /// When each member's call ends.
  std::vector<Picoseconds> ends() {
    while (!events_.empty()) {
      const auto [key, message] = *events_.begin();
      events_.erase(events_.begin());
      now_ = key.time;
      if (key.what == 0) take(message);
      if (key.what == 1) members_[message.to].arrivals[message.counter] += message.add;
      if (key.what == 2) members_[key.rank].arrivals[message.counter] += 1;
      if (key.what == 1 || key.what == 2) events_.insert({{now_, 4, key.rank, number_++}, {}});
      if (key.what == 3) members_[key.rank].called = true;
      if (key.what == 3 || key.what == 4) go_on(key.rank);
    }
    std::vector<Picoseconds> out;
    for (const Member& member : members_) out.push_back(std::max(member.over, member.sources));
    return out;
  }

 private:
  struct Key {
    Picoseconds time;
    int what;  // 0 a head, 1 in place, 2 a source is free, 3 the call, 4 the processor goes on
    Rank rank;
    std::uint64_t number;
    bool operator<(const Key& other) const {
      const auto order = [](int one) { return one == 4 ? 3 : one; };
      return std::tuple(time, order(what), rank, number) <
             std::tuple(other.time, order(other.what), other.rank, other.number);
    }
  };
  struct Message {
    Rank from = 0;
    Rank to = 0;
    std::uint64_t bytes = 0;
    Counter counter = 0;
    std::uint32_t add = 0;
  };
  struct Member {
    std::vector<Step> steps;
    std::size_t next = 0;
    bool called = false;
    Picoseconds free = 0;
    Picoseconds sends = 0;
    Picoseconds takes = 0;
    Picoseconds over = 0;
    Picoseconds sources = 0;
    std::vector<std::uint32_t> arrivals;
  };

  void take(const Message& message) {
    Member& member = members_[message.to];
    const LogGP& link = machine_.between(message.from, message.to, message.bytes);
    const Picoseconds in_place = std::max(now_, member.takes) + link.bytes_time(message.bytes);
    member.takes = in_place + link.gap;
    events_.insert({{in_place, 1, message.to, number_++}, message});
  }
  void go_on(Rank rank) {
    Member& member = members_[rank];
    while (member.called && member.free <= now_ && member.next < member.steps.size()) {
      const Step& step = member.steps[member.next];
      if (step.wait_for != kNoCounter && member.arrivals[step.wait_for] < step.wait_until) return;
      ++member.next;
      if (step.kind != Step::Kind::put && step.kind != Step::Kind::signal) {
        if (step.done != kNoCounter) ++member.arrivals[step.done];
        continue;
      }
      const std::uint64_t bytes = step.kind == Step::Kind::put ? step.bytes * step.runs : 0;
      const LogGP& link = machine_.between(rank, step.peer, bytes);
      const Picoseconds posted = link.overhead == 0 ? now_ : work(rank, link.overhead);
      const Picoseconds entered = std::max(posted, member.sends);
      const Picoseconds left = entered + link.bytes_time(bytes);
      member.sends = left + link.gap;
      events_.insert(
          {{entered + link.latency, 0, rank, number_++}, {rank, step.peer, bytes, step.raise, step.add}});
      if (bytes > 0) member.sources = std::max(member.sources, left);
      if (step.done != kNoCounter) {
        const Picoseconds when = bytes > 0 ? left : posted;
        events_.insert({{when, 2, rank, number_++}, {.counter = step.done}});
      }
      member.free = posted;
      events_.insert({{posted, 4, rank, number_++}, {}});
    }
    if (member.called && member.free <= now_ && member.next == member.steps.size() && member.over == 0)
      member.over = now_;
  }
  /// When work is over that could begin now.
  Picoseconds work(Rank rank, Picoseconds length) {
    if (machine_.cores == 0 || machine_.cores >= machine_.host) return now_ + length;
    std::vector<Core>& cores = cores_[rank / machine_.host];
    if (cores.empty()) cores.resize(machine_.cores);
    Core* best = nullptr;
    for (Core& core : cores) {
      if (best == nullptr && core.last == rank && core.free <= now_) best = &core;
    }
    const bool own = best != nullptr;
    for (Core& core : cores) {
      if (best == nullptr || (!own && core.free < best->free)) best = &core;
    }
    const Picoseconds begin = std::max(now_, best->free);
    const bool turns = best->last != kNoRank && best->last != rank;
    *best = {begin + length + (turns ? machine_.turn : 0), rank};
    return best->free;
  }

  struct Core {
    Picoseconds free = 0;
    Rank last = kNoRank;
  };

  const Machine& machine_;
  std::vector<Member> members_;
  std::map<Rank, std::vector<Core>> cores_;  // [host]
  std::uint32_t counters_;
  std::map<Key, Message> events_;
  Picoseconds now_ = 0;
  std::uint64_t number_ = 0;
};

}  // namespace aqueduct::coll::replays
