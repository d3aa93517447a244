#include "tools/aqcheck/large.hpp"

#include "tools/aqcheck/legal.hpp"
#include "tools/aqcheck/wrong_costs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace aqueduct::aqcheck {

using coll::Place;
using coll::Space;
using coll::Step;

namespace {

/// One execution by counters alone.
class LightRun {
 public:
  LightRun(const Case& checked, const Change& change)
      : case_(checked),
        change_(change),
        needs_(coll::Schedule::needs(*checked.algorithm, checked.shape)),
        counters_(std::size_t{checked.shape.ranks} * needs_.counters) {}

  Verdict verdict() {
    if (list_lanes() && waits_are_exact() && run_lanes())
      verdict_.problem = wrong_costs(case_, verdict_.counted);
    return std::move(verdict_);
  }

 private:
  /// What is left of a step after it was looked at.
  struct Brief {
    std::uint64_t bytes = 0;  ///< of a message
    Rank peer = kNoRank;
    std::uint32_t wait_until = 0;
    coll::Counter wait_for = coll::kNoCounter;
    coll::Counter raise = coll::kNoCounter;
    coll::Counter done = coll::kNoCounter;
    std::uint16_t add = 0;
    bool message = false;
    bool get = false;
  };
  struct Lane {
    Rank position;
    std::uint32_t lane;
    std::size_t begin;  ///< in briefs_
    std::size_t end;
    std::size_t next;
    std::uint32_t depth = 0;
  };
  struct State {
    std::uint64_t value = 0;
    std::uint64_t total = 0;
    std::uint32_t depth = 0;
    bool waited = false;
  };

  State& counter(Rank position, coll::Counter number) noexcept {
    return counters_[std::size_t{position} * needs_.counters + number];
  }
  bool fail(const Lane& lane, std::size_t at, const std::string& text) {
    verdict_.problem =
        fmt::format("member {}, lane {}, step {}: {}", lane.position, lane.lane, at - lane.begin, text);
    return false;
  }

  std::uint64_t size_of(Rank position, Space space) const noexcept {
    const coll::Shape& shape = case_.shape;
    const auto bytes = [&](Rank blocks) {
      return blocks == 0 ? 0 : (blocks - 1) * shape.pitch + shape.bytes;
    };
    switch (space) {
      case Space::in: return bytes(coll::blocks_in(shape, position));
      case Space::out: return bytes(coll::blocks_out(shape, position));
      case Space::scratch: return needs_.scratch;
      case Space::temp: return needs_.temp;
      case Space::landed: return needs_.scratch;
      case Space::told: return shape.bytes;  // of a block
      default: return 0;
    }
  }
  bool is_within(Rank position, const Place& place, const Step& step) const noexcept {
    if (step.bytes * step.runs == 0) return true;
    const std::uint64_t size = size_of(position, place.space);
    // Of runs that go backwards the last one begins first, and the sum wraps below 0 if they go too far.
    const std::uint64_t last = place.offset + (step.runs > 1 ? (step.runs - 1) * place.pitch : 0);
    return place.offset <= size && last <= size && std::max(place.offset, last) + step.bytes <= size;
  }
  const char* beyond(Rank position, const Step& step) const noexcept {
    if (step.kind == Step::Kind::nothing || step.kind == Step::Kind::signal || step.kind == Step::Kind::tell)
      return nullptr;
    if (step.from.space == Space::landed && !is_within(position, step.with, step))
      return "lands beyond the end of the output";
    const Rank from = step.kind == Step::Kind::get ? step.peer : position;
    const Rank to = step.kind == Step::Kind::put ? step.peer : position;
    if (step.from.space != Space::where && !is_within(from, step.from, step))
      return "reads beyond the end of a space";
    if (!is_within(to, step.to, step)) return "writes beyond the end of a space";
    if (step.kind == Step::Kind::reduce && !is_within(position, step.with, step))
      return "reads beyond the end of a space";
    return nullptr;
  }

  /// Looks at each step by itself, and sums up what is ever added to each counter.
  bool list_lanes() {
    for (Rank position = 0; position < case_.shape.ranks; ++position) {
      const coll::Schedule schedule(*case_.algorithm, case_.shape_of(position), position);
      for (std::uint32_t number = 0; number < schedule.lanes(); ++number) {
        const std::size_t first = briefs_.size();
        const std::uint32_t length = schedule.length(number);
        Lane lane{position, number, first, first + length, first};
        for (std::uint32_t i = 0; i < length; ++i) {
          Step step = schedule.step(number, i);
          if (change_) change_(position, number, i, step);
          if (!look_at(lane, first + i, step)) return false;
        }
        lanes_.push_back(lane);
      }
    }
    return true;
  }

  bool look_at(const Lane& lane, std::size_t at, const Step& step) {
    const char* problem = illegal(case_.shape, needs_, lane.position, step);
    if (problem == nullptr) problem = beyond(lane.position, step);
    if (problem != nullptr) return fail(lane, at, problem);
    if (step.raise != coll::kNoCounter) counter(step.peer, step.raise).total += step.add;
    if (step.done != coll::kNoCounter) counter(lane.position, step.done).total += 1;
    if (step.wait_for != coll::kNoCounter) counter(lane.position, step.wait_for).waited = true;
    briefs_.push_back({.bytes = step.kind == Step::Kind::signal ? 0 : step.bytes * step.runs,
                       .peer = step.peer,
                       .wait_until = step.wait_until,
                       .wait_for = step.wait_for,
                       .raise = step.raise,
                       .done = step.done,
                       .add = step.add,
                       .message = is_message(step),
                       .get = step.kind == Step::Kind::get});
    return true;
  }

  bool waits_are_exact() {
    for (const Lane& lane : lanes_) {
      for (std::size_t at = lane.begin; at < lane.end; ++at) {
        const Brief& step = briefs_[at];
        if (step.wait_for == coll::kNoCounter) continue;
        const std::uint64_t total = counter(lane.position, step.wait_for).total;
        if (step.wait_until != total || total == 0) {
          return fail(lane, at,
                      fmt::format("waits for {} on counter {}, to which {} is added in all", step.wait_until,
                                  step.wait_for, total));
        }
      }
    }
    const auto full = std::find_if(counters_.begin(), counters_.end(),
                                   [](const State& state) { return state.total > kMostArrivals; });
    if (full != counters_.end()) {
      const auto at = static_cast<std::size_t>(full - counters_.begin());
      verdict_.problem = overflow_text(at / needs_.counters, at % needs_.counters, full->total);
      return false;
    }
    const auto unheard = std::find_if(counters_.begin(), counters_.end(),
                                      [](const State& state) { return state.total > 0 && !state.waited; });
    if (unheard == counters_.end()) return true;
    const auto index = static_cast<std::size_t>(unheard - counters_.begin());
    verdict_.problem = fmt::format("nobody at member {} waits for counter {}", index / needs_.counters,
                                   index % needs_.counters);
    return false;
  }

  bool run_lanes() {
    for (bool moved = true; moved;) {
      moved = false;
      for (Lane& lane : lanes_) {
        for (; lane.next < lane.end; ++lane.next) {
          const Brief& step = briefs_[lane.next];
          if (step.wait_for != coll::kNoCounter) {
            const State& waited = counter(lane.position, step.wait_for);
            if (waited.value < step.wait_until) break;
            lane.depth = std::max(lane.depth, waited.depth);
          }
          begin(lane, step);
          moved = true;
        }
      }
    }
    for (const Lane& lane : lanes_) {
      if (lane.next < lane.end) return fail(lane, lane.next, "deadlock: it waits for ever");
    }
    return true;
  }

  void begin(const Lane& lane, const Brief& step) {
    const std::uint32_t depth = lane.depth + (step.message ? 1 : 0);
    if (step.message) {
      verdict_.counted.messages += 1;
      verdict_.counted.bytes += step.bytes;
      verdict_.counted.depth = std::max(verdict_.counted.depth, depth);
    }
    if (step.raise != coll::kNoCounter) raise(counter(step.peer, step.raise), step.add, depth);
    if (step.done != coll::kNoCounter)
      raise(counter(lane.position, step.done), 1, step.get ? depth : lane.depth);
  }
  static void raise(State& state, std::uint64_t add, std::uint32_t depth) noexcept {
    state.value += add;
    state.depth = std::max(state.depth, depth);
  }

  const Case& case_;
  const Change& change_;
  coll::Needs needs_;
  std::vector<State> counters_;  // [position][counter]
  std::vector<Brief> briefs_;
  std::vector<Lane> lanes_;
  Verdict verdict_;
};

}  // namespace

Verdict check_large(const Case& checked, const Change& change) { return LightRun(checked, change).verdict(); }

}  // namespace aqueduct::aqcheck
