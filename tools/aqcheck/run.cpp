// The steps of all members, one after the other.

#include "tools/aqcheck/run.hpp"

#include "tools/aqcheck/legal.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace aqueduct::aqcheck {

using coll::Step;

namespace {

Event mark_event(std::size_t mark) noexcept {
  return {Event::Kind::mark, static_cast<std::uint32_t>(mark), 0};
}

}  // namespace

Verdict Run::check(const Case& checked, const Change& change) {
  case_ = &checked;
  needs_ = coll::Schedule::needs(*checked.algorithm, checked.shape);
  verdict_ = {};
  if (prepare(change) && count_raises() && run_lanes()) {
    check_leaving();
    check_lent();
    check_results();
    check_costs();
  }
  return std::move(verdict_);
}

bool Run::fail(std::string text) {
  if (verdict_.problem.empty()) verdict_.problem = std::move(text);
  return false;
}

std::string Run::name(const Lane& lane, std::size_t index) const {
  return fmt::format("member {}, lane {}, step {}", lane.position, lane.lane, index);
}

bool Run::run_lanes() {
  for (bool moved = true; moved;) {
    moved = false;
    for (Lane& lane : lanes_) {
      while (lane.begin + lane.next < lane.end) {
        const Step& step = step_of(lane);
        if (step.wait_for != coll::kNoCounter &&
            counter(lane.position, step.wait_for).value < step.wait_until)
          break;
        if (!begin(lane)) return false;
        ++lane.next;
        moved = true;
      }
    }
  }
  for (const Lane& lane : lanes_) {
    if (lane.begin + lane.next == lane.end) continue;
    const Step& step = step_of(lane);
    return fail(fmt::format("deadlock: {} waits for {} on counter {}, which stays at {}",
                            name(lane, lane.next), step.wait_until, step.wait_for,
                            counter(lane.position, step.wait_for).value));
  }
  return true;
}

bool Run::begin(Lane& lane) {
  Step step = step_of(lane);
  const auto own = static_cast<std::size_t>(&lane - lanes_.data());
  const auto time = static_cast<std::uint32_t>(lane.next + 1);
  orders_.set_steps(lane.before, own, time);
  if (step.wait_for != coll::kNoCounter) {
    const CounterState& waited = counter(lane.position, step.wait_for);
    orders_.join(lane.before, waited.before);
    lane.depth = std::max(lane.depth, waited.depth);
  }
  const Event here{Event::Kind::step, static_cast<std::uint32_t>(own), time};
  if (is_message(step)) {
    const std::size_t source = shape().ranks + 2 * begun_++;
    const std::size_t target = source + 1;
    const bool get = step.kind == Step::Kind::get;
    if (!resolve(lane, step, here, mark_event(source))) return false;
    sources_[lane.position].push_back(source);
    if (get) sources_[lane.position].push_back(target);
    if (step.kind != Step::Kind::signal &&
        !move(lane, step, get ? step.peer : lane.position, mark_event(source),
              get ? lane.position : step.peer, mark_event(target)))
      return false;
    const std::uint32_t depth = lane.depth + 1;
    verdict_.counted.messages += 1;
    verdict_.counted.bytes += step.kind == Step::Kind::signal ? 0 : step.bytes * step.runs;
    verdict_.counted.depth = std::max(verdict_.counted.depth, depth);
    // A completion at this member says that the source is free. An arrival says that too.
    orders_.assign(after_, lane.before);
    orders_.add_mark(after_, source);
    if (get) orders_.add_mark(after_, target);
    if (step.done != coll::kNoCounter) raise(lane.position, step.done, 1, after_, get ? depth : lane.depth);
    orders_.add_mark(after_, target);
    if (step.raise != coll::kNoCounter) raise(step.peer, step.raise, step.add, after_, depth);
    return true;
  }
  if (!resolve(lane, step, here, here)) return false;
  if (step.kind == Step::Kind::copy && !move(lane, step, lane.position, here, lane.position, here))
    return false;
  if (step.kind == Step::Kind::reduce && !reduce(lane, step, here)) return false;
  if (step.kind == Step::Kind::tell) lane.at_tell = orders_.copy(lane.before);
  if (step.done != coll::kNoCounter) raise(lane.position, step.done, 1, lane.before, lane.depth);
  return true;
}

void Run::raise(Rank position, coll::Counter number, std::uint64_t add, Orders::Row before,
                std::uint32_t depth) {
  CounterState& state = counter(position, number);
  state.value += add;
  if (state.before == Orders::kNone)
    state.before = orders_.copy(before);
  else
    orders_.join(state.before, before);
  state.depth = std::max(state.depth, depth);
}

}  // namespace aqueduct::aqcheck
