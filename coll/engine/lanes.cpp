// How the lanes of a run go on: a look at each, and its steps until it has to wait.

#include "coll/engine/collectives.hpp"
#include "coll/engine/team_engine.hpp"

namespace aqueduct::coll {

/// Whether the lanes may run: a piece waits for the pass before it, and the pass at the end for all pieces.
inline bool TeamEngine::may_begin(const Run& run) const noexcept {
  const Method& method = run.operation->method();
  const std::uint32_t completed = run.operation->completed;
  if (method.runs == 1) return true;
  if (method.after && run.index + 1 == method.runs) return completed + 1 == method.runs;
  return !method.before || run.index == 0 || completed != 0;
}

/// Whether what a counter holds comes from members that have made this call. Each raise adds more than a number: a mark
/// of its call in the upper 48 bits, unless its network cannot carry it.
inline bool TeamEngine::fits(const Run& run, std::uint64_t sum) const noexcept {
  const std::uint64_t unit = run.operation->unit;
  const std::uint64_t count = sum & 0xffff;
  if (sum == count * unit) [[likely]]
    return true;
  constexpr std::uint64_t kUpper = (std::uint64_t{1} << 48) - 1;
  for (std::uint64_t marked = 0; marked <= count; ++marked) {
    if (((marked * (unit >> 16)) & kUpper) == sum >> 16) return true;
  }
  return false;
}

/// Whether a counter has all that the step waits for.
inline bool TeamEngine::arrived(const Run& run, Counter counter, std::uint32_t until) noexcept {
  const std::uint64_t sum = scratch_->count(run.portion, counter);
  if (!fits(run, sum)) [[unlikely]] {
    saw_other(run.operation->number);
    return false;
  }
  return (sum & 0xffff) >= until;
}

/// A run has waited for long: perhaps a member has made another call, and has raised other counters than this waits for.
void TeamEngine::look_for_others(const Run& run) noexcept {
  look_at_calls();
  for (std::uint32_t counter = 0; counter < run.portion.counters; ++counter) {
    if (fits(run, scratch_->count(run.portion, static_cast<Counter>(counter)))) continue;
    saw_other(run.operation->number);
    return;
  }
}

/// Runs a lane until it has to wait, or has ended.
inline TeamEngine::Did TeamEngine::go_on(Run& run, Run::Lane& lane) noexcept {
  while (true) {
    if (lane.step == nullptr) {
      if (lane.next == lane.length) {
        ++run.ended;
        if (!lane.told) --run.untold;
        lane.told = lane.ended = true;
        return Did::step;
      }
      if (lane.kept != nullptr) [[likely]] {
        lane.step = lane.kept + lane.next;
      } else {
        const auto index = static_cast<std::uint32_t>(&lane - run.lanes.data());
        lane.computed = run.schedule->step(index, lane.next);
        lane.step = &lane.computed;
      }
    }
    const Step& step = *lane.step;
    if (step.wait_for != kNoCounter && !arrived(run, step.wait_for, step.wait_until)) return Did::waits;
    if (const Did did = execute(run, lane); did != Did::step) return did;
    lane.step = nullptr;
    ++lane.next;
  }
}

/// Goes on with a run that has started.
void TeamEngine::look(Run& run) noexcept {
  if (run.on_board) return look_at_board(run);
  if (!run.begun) [[unlikely]] {
    if (!may_begin(run)) return;
    run.begun = true;
    run.operation->unit = unit_of(run.operation->number, *run.operation->call);
    if (run.operation->call->request.combiner.wide_element != 0) convert_in(run);
    if (redirects_ != nullptr) redirect_arrivals(run);
  }
  // A lane may wait for what a later one does.
  do {
    raised_own_ = false;
    Run::Lane* const end = run.lanes.data() + run.lane_count;
    for (Run::Lane* at = run.lanes.data(); at != end; ++at) {
      Run::Lane& lane = *at;
      if (lane.ended) continue;
      const Did did = go_on(run, lane);
      if (did == Did::no_room) no_room_ = true;
      if (cancelled(*run.operation)) [[unlikely]]
        return;
    }
  } while (raised_own_ && run.ended != run.lane_count);
  if (waits_long(run)) [[unlikely]]
    look_for_others(run);
  if (!run.complete && run.untold == 0 && run.own == 0 && run.sources.parts == 1) completed(run);
}

}  // namespace aqueduct::coll
