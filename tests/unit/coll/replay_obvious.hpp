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
    if (machine.shares_cores()) seat(shape.ranks);
  }
  /// When each member's call ends.
  std::vector<Picoseconds> ends() {
    while (!events_.empty()) {
      const auto [key, message] = *events_.begin();
      events_.erase(events_.begin());
      now_ = key.time;
      if (key.what == 0) ++members_[message.to].arrived;
      if (key.what == 0) take(message);
      if (key.what == 1) members_[message.to].arrivals[message.counter] += message.add;
      if (key.what == 2 || key.what == 6) {
        Member& member = members_[key.rank];
        // Where processors are shared, a look may begin later than the source is free, and only then the member learns of it.
        if (!cores_.empty() && message.bytes > 0)
          member.free_now.push_back(message.counter);
        else
          learn(member, message.counter, message.bytes > 0);
      }
      if (key.what == 5) give_out(cores_[members_[key.rank].core]);
      if (key.what == 1 || key.what == 2 || key.what == 6)
        events_.insert({{now_, 4, key.rank, number_++}, {}});
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
    // 0 a head, 1 in place, 2 a source is free, 3 the call, 4 the processor goes on, 5 processors are given out; 6 as 2, of a
    // message that leaves as soon as a processor that goes on has handed it over
    int what;
    Rank rank;
    std::uint64_t number;
    bool operator<(const Key& other) const {
      const auto order = [](int one) { return one == 6 ? 4 : one == 5 ? 5 : std::min(one, 3); };
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
    std::vector<Rank> ranks;
    std::size_t with = 0;  // which of them
    Picoseconds since = 0;
    bool used = false;
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
    std::uint32_t unfree = 0;       // sources, as far as it knows
    std::vector<Counter> free_now;  // what it learns when its next look begins
    std::size_t core = 0;           // if they are shared
    bool has = false;               // that
    bool looks = false;             // a look has begun, with a processor that others share
    bool moved = false;             // that look has executed a step
    std::uint32_t arrived = 0;
    bool asks = false;
    bool looked = false;
    Picoseconds asked = 0;
    std::vector<std::uint32_t> arrivals;
  };

  static void learn(Member& member, Counter done, bool of_source) {
    if (done != kNoCounter) member.arrivals[done] += 1;
    if (of_source) --member.unfree;
  }
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
    if (member.has && member.free <= now_ && !member.looks) {
      const Picoseconds work = std::exchange(member.arrived, 0U) * machine_.receive;
      if (work != 0) {
        member.free = now_ + work;
        events_.insert({{member.free, 4, rank, number_++}, {}});
        return;
      }
      member.looks = true;
      for (const Counter done : std::exchange(member.free_now, {})) learn(member, done, true);
    }
    while (member.called && member.free <= now_ && member.next < member.steps.size()) {
      const Step& step = member.steps[member.next];
      if (step.wait_for != kNoCounter && member.arrivals[step.wait_for] < step.wait_until) break;
      ++member.next;
      member.moved = true;
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
        const bool at_once = bytes > 0 && left == posted && !cores_.empty();
        events_.insert({{when, at_once ? 6 : 2, rank, number_++}, {.bytes = bytes, .counter = step.done}});
        if (bytes > 0) ++member.unfree;
      }
      member.free = posted;
      events_.insert({{posted, 4, rank, number_++}, {}});
    }
    if (member.called && member.free <= now_ && member.next == member.steps.size() && member.over == 0 &&
        (cores_.empty() || member.unfree == 0))
      member.over = now_;
    if (member.has && member.free <= now_) {
      member.looks = false;
      if (std::exchange(member.moved, false) || !member.free_now.empty()) return go_on(rank);
      member.has = false;
      cores_[member.core].taken = false;
      cores_[member.core].since = now_;
      events_.insert({{now_, 5, rank, number_++}, {}});
    }
  }
  /// The member has no processor. It asks for one if it can go on.
  void ask(Rank rank) {
    Member& member = members_[rank];
    if (!member.called || member.asks) return;
    if (member.looked && member.free_now.empty()) {
      if (member.next == member.steps.size()) return;
      const Step& step = member.steps[member.next];
      if (step.wait_for != kNoCounter && member.arrivals[step.wait_for] < step.wait_until) return;
    }
    member.asks = member.looked = true;
    member.asked = now_;
    events_.insert({{now_, 5, rank, number_++}, {}});
  }
  void seat(Rank ranks) {
    for (Rank host = 0; host < machine_.hosts(ranks); ++host) {
      std::map<Rank, Rank> by_slot;
      for (Rank rank = 0; rank < ranks; ++rank) {
        if (machine_.host_of(rank) == host) by_slot[machine_.slot_of(rank)] = rank;
      }
      std::vector<Core> cores(machine_.cores);
      std::size_t i = 0;
      for (const auto& [slot, rank] : by_slot) {
        const std::size_t of_host = by_slot.size() > machine_.cores ? i * machine_.cores / by_slot.size() : i;
        cores[of_host].ranks.push_back(rank);
        members_[rank].core = cores_.size() + of_host;
        ++i;
      }
      cores_.insert(cores_.end(), cores.begin(), cores.end());
    }
  }
  /// Lets the processor go round, turn by turn, up to now, and gives it to the rank with which it is then, if that has asked.
  void give_out(Core& core) {
    const auto asks = [&](Rank rank) { return members_[rank].asks; };
    if (core.taken || std::none_of(core.ranks.begin(), core.ranks.end(), asks)) return;
    if (!core.used || machine_.turn == 0) {
      std::size_t first = core.ranks.size();
      for (std::size_t i = 0; i < core.ranks.size(); ++i) {
        if (!asks(core.ranks[i])) continue;
        if (first == core.ranks.size() || asked(core, i) < asked(core, first)) first = i;
      }
      core.with = first;
      return take(core);
    }
    while (core.since + machine_.turn <= now_) {
      core.since += machine_.turn;
      core.with = (core.with + 1) % core.ranks.size();
    }
    if (asks(core.ranks[core.with])) return take(core);
    events_.insert({{core.since + machine_.turn, 5, core.ranks[core.with], number_++}, {}});
  }
  Picoseconds asked(const Core& core, std::size_t i) const { return members_[core.ranks[i]].asked; }
  void take(Core& core) {
    const Rank rank = core.ranks[core.with];
    core.used = core.taken = true;
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
