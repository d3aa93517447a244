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
    if (machine.shares_cores()) cores_.resize(std::size_t{machine.hosts(shape.ranks)} * machine.cores);
  }
  /// When each member's call ends.
  std::vector<Picoseconds> ends() {
    while (!events_.empty()) {
      const auto [key, message] = *events_.begin();
      events_.erase(events_.begin());
      now_ = key.time;
      if (key.what == 0) take(message);
      if (key.what == 1) members_[message.to].arrivals[message.counter] += message.add;
      if (key.what == 2) {
        Member& member = members_[key.rank];
        if (message.counter != kNoCounter) member.arrivals[message.counter] += 1;
        if (message.bytes > 0) member.learns = true;
        if (message.bytes > 0) --member.unfree;
      }
      if (key.what == 5) give_out(machine_.host_of(key.rank));
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
    // 0 a head, 1 in place, 2 a source is free, 3 the call, 4 the processor goes on, 5 processors are given out
    int what;
    Rank rank;
    std::uint64_t number;
    bool operator<(const Key& other) const {
      const auto order = [](int one) { return one >= 4 ? one - 1 : one; };
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
  struct Core {
    Picoseconds since = 0;
    Rank last = kNoRank;
    bool taken = false;
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
    std::uint32_t unfree = 0;  // sources
    bool learns = false;       // that one is free
    bool has = false;          // a processor, if they are shared
    bool asks = false;
    bool looked = false;
    Picoseconds asked = 0;
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
    if (!cores_.empty() && !member.has) return ask(rank);
    if (member.free <= now_) member.learns = false;
    while (member.called && member.free <= now_ && member.next < member.steps.size()) {
      const Step& step = member.steps[member.next];
      if (step.wait_for != kNoCounter && member.arrivals[step.wait_for] < step.wait_until) break;
      ++member.next;
      if (step.kind != Step::Kind::put && step.kind != Step::Kind::signal) {
        if (step.done != kNoCounter) ++member.arrivals[step.done];
        continue;
      }
      const std::uint64_t bytes = step.kind == Step::Kind::put ? step.bytes * step.runs : 0;
      const LogGP& link = machine_.between(rank, step.peer, bytes);
      const Picoseconds posted = now_ + link.overhead;
      const Picoseconds entered = std::max(posted, member.sends);
      const Picoseconds left = entered + link.bytes_time(bytes);
      member.sends = left + link.gap;
      events_.insert(
          {{entered + link.latency, 0, rank, number_++}, {rank, step.peer, bytes, step.raise, step.add}});
      if (bytes > 0) member.sources = std::max(member.sources, left);
      if (step.done != kNoCounter || bytes > 0) {
        const Picoseconds when = bytes > 0 ? left : posted;
        events_.insert({{when, 2, rank, number_++}, {.bytes = bytes, .counter = step.done}});
        if (bytes > 0) ++member.unfree;
      }
      member.free = posted;
      events_.insert({{posted, 4, rank, number_++}, {}});
    }
    if (member.called && member.free <= now_ && member.next == member.steps.size() && member.over == 0 &&
        (cores_.empty() || member.unfree == 0))
      member.over = now_;
    if (member.has && member.free <= now_) {
      member.has = false;
      for (Core& core : cores_) {
        if (core.taken && core.last == rank) core = {now_, rank, false};
      }
      events_.insert({{now_ + machine_.turn, 5, rank, number_++}, {}});
    }
  }
  /// The member has no processor. It asks for one if it can go on.
  void ask(Rank rank) {
    Member& member = members_[rank];
    if (!member.called || member.asks) return;
    if (member.looked && !member.learns) {
      if (member.next == member.steps.size()) return;
      const Step& step = member.steps[member.next];
      if (step.wait_for != kNoCounter && member.arrivals[step.wait_for] < step.wait_until) return;
    }
    member.asks = member.looked = true;
    member.asked = now_;
    events_.insert({{now_, 5, rank, number_++}, {}});
  }
  void give_out(Rank host) {
    for (std::uint32_t i = 0; i < machine_.cores; ++i) {
      Core& core = cores_[std::size_t{host} * machine_.cores + i];
      if (!core.taken && core.last != kNoRank && members_[core.last].asks) take(core, core.last);
    }
    while (true) {
      Rank first = kNoRank;
      for (Rank rank = 0; rank < members_.size(); ++rank) {
        if (machine_.host_of(rank) != host || !members_[rank].asks) continue;
        if (first == kNoRank || members_[rank].asked < members_[first].asked) first = rank;
      }
      if (first == kNoRank) return;
      Core* best = nullptr;
      for (std::uint32_t i = 0; i < machine_.cores; ++i) {
        Core& core = cores_[std::size_t{host} * machine_.cores + i];
        if (core.taken || (core.last != kNoRank && core.since + machine_.turn > now_)) continue;
        if (best == nullptr || core.since < best->since) best = &core;
      }
      if (best == nullptr) return;
      take(*best, first);
    }
  }
  void take(Core& core, Rank rank) {
    core = {core.since, rank, true};
    members_[rank].free = now_;
    members_[rank].has = true;
    members_[rank].asks = false;
    events_.insert({{now_, 4, rank, number_++}, {}});
  }

  const Machine& machine_;
  std::vector<Member> members_;
  std::vector<Core> cores_;  // [host][core]
  std::uint32_t counters_;
  std::map<Key, Message> events_;
  Picoseconds now_ = 0;
  std::uint64_t number_ = 0;
};

}  // namespace aqueduct::coll::replays
