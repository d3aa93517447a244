#pragma once

#include "coll/model/large_pages.hpp"
#include "coll/model/ports.hpp"
#include "coll/model/replay.hpp"
#include "coll/schedule/brief.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace aqueduct::coll {

inline constexpr Picoseconds kNever = std::numeric_limits<Picoseconds>::max();

/// What every way of replaying works on: the schedules, ports, counters and lanes of all members, and the result.
class ReplayState {
 public:
  /// In a line of a cache of its own.
  struct alignas(64) Lane {
    TeamSchedule::Lengths lengths;
    std::uint32_t next = 0;
    bool loaded = false;
    bool told = false;
    bool ended = false;
    bool blocked =
        false;  ///< it waits for a counter that still lacks something: nobody need read the counter. Stepped replays
    Brief step;
  };
  struct CounterState {
    Picoseconds ready = 0;  ///< when the last of what has been added so far is in place
    std::uint32_t value = 0;

    void add(std::uint32_t amount, Picoseconds at) noexcept {
      value += amount;
      if (at > ready) ready = at;
    }
  };

  ReplayState(std::span<const ReplayedCall> calls, const Machine& machine, const ReplayOptions& options);

  /// Lanes for which each member has room in each call: the most that any of them has, rounded up to a power of two.
  static std::uint32_t lanes_of_call(std::span<const ReplayedCall> calls) noexcept;
  /// Bytes of memory for each member.
  static std::uint64_t bytes_of_member(std::span<const ReplayedCall> calls);

  const std::span<const ReplayedCall> calls;
  const Machine& machine;
  const ReplayOptions& options;
  const Rank ranks;
  const std::uint32_t lanes_each;  ///< lanes for which a member has room in a call: a power of two
  const std::uint32_t lanes_of;    ///< of each member, of all calls
  Ports ports;
  Replayed out;

  const TeamSchedule& schedule(std::uint32_t call) const noexcept { return schedules_[call]; }
  Lane& lane(Rank rank, std::uint32_t index) noexcept { return lanes_[std::size_t{rank} * lanes_of + index]; }
  CounterState& counter(Rank rank, std::uint32_t call, Counter number) noexcept {
    return counters_[std::size_t{first_counter_[call] + number} * ranks + rank];
  }
  std::uint32_t call_of(std::uint32_t lane) const noexcept { return lane >> lanes_shift_; }
  /// What an event touches, mostly the arrival of a put at its target, for a cache; and `more`.
  template <class... More>
  std::array<const void*, 6 + sizeof...(More)> touched(const ReplayEvent& put,
                                                       const More*... more) const noexcept {
    const Lane* const lane = &lanes_[std::size_t{put.rank} * lanes_of];
    const bool counts = (put.kind == ReplayEvent::Kind::put || put.kind == ReplayEvent::Kind::go_on) &&
                        put.counter != kNoCounter;
    const std::size_t row = counts ? first_counter_[put.call] + put.counter : 0;
    const CounterState* const counter = counters_.data() + row * ranks + put.rank;
    // The lane goes on to wait for the next counter. Of several lanes each has its own, in turns, but in a pass.
    const auto next = [&](std::size_t by) { return counter + (row + by < counters_of_ ? by * ranks : 0); };
    return {ports.touched(put.rank), lane,   lane + (lanes_of > 1 ? 1 : 0), counter, next(1),
            next(lanes_each),        more...};
  }
  Picoseconds called(Rank rank) const noexcept { return options.calls.empty() ? 0 : options.calls[rank]; }

  /// Reads the next step of a lane. False: there is none.
  bool load(Rank rank, std::uint32_t index, Lane& lane) const noexcept {
    if (lane.loaded) return true;
    if (lane.next == lane.lengths.all) return false;
    lane.step = read(rank, index, lane);
    lane.loaded = true;
    return true;
  }
  static void pass(Lane& lane) noexcept {
    lane.loaded = false;
    ++lane.next;
  }

  /// Keeps a rank's processor busy from `begin` on, which adds to `busy`; returns the end.
  Picoseconds work(Rank rank, Picoseconds& busy, Picoseconds begin, Picoseconds length, Watcher::What what,
                   Rank peer, std::uint64_t bytes) {
    const Picoseconds end =
        options.detours.period == 0 ? begin + length : options.detours.end_of(rank, begin, length);
    busy += end - begin;
    too_much_ |= end >= kMostTime || busy >= kMostTime;
    if (options.watcher != nullptr && end != begin)
      options.watcher->busy(rank, what, begin, end, peer, bytes);
    return end;
  }
  /// How long a copy or reduction takes.
  Picoseconds local_time(const Brief& step) const noexcept;
  bool in_pieces(const Brief& step) const noexcept {
    return machine.strided == Strided::pieces && step.runs > 1 && step.bytes > 0 &&
           (step.kind == Step::Kind::put || step.kind == Step::Kind::get);
  }

  void fail(std::string text) {
    if (out.problem.empty()) out.problem = std::move(text);
  }
  /// Whether the replay is to go on: no problem so far, and not too many messages.
  bool goes_on();
  /// Sums up. Fails if a lane has not ended.
  void finish();

 private:
  Brief read(Rank rank, std::uint32_t index, const Lane& lane) const noexcept {
    const TeamSchedule& schedule = schedules_[call_of(index)];
    const std::uint32_t number = index & (lanes_each - 1);
    if (number == 0) {
      const std::uint32_t after = lane.lengths.all - lane.lengths.after;
      if (lane.next >= after && schedule.after().is_plain())
        return brief_of_round(schedule.after(), rank, lane.next - after);
      if (lane.next < lane.lengths.before && schedule.before().is_plain())
        return brief_of_round(schedule.before(), rank, lane.next);
    }
    return schedule.brief(rank, number, lane.next, lane.lengths);
  }

  const unsigned lanes_shift_;                   ///< log2 of lanes_each
  bool too_much_ = false;                        ///< work has come near the limit of 64 bits (kMostTime)
  std::vector<TeamSchedule> schedules_;          // [call]
  std::vector<std::vector<std::int8_t>> notes_;  // [call] of the schedule
  std::vector<std::uint32_t> first_counter_;     // [call]
  std::uint32_t counters_of_ = 0;                ///< of each member, of all calls
  LargeVector<Lane> lanes_;                      // [rank][call][lane]
  LargeVector<CounterState> counters_;  // [call][counter][rank], as members are mostly at the same one
};

}  // namespace aqueduct::coll
