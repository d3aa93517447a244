#include "coll/schedule/schedule.hpp"

namespace aqueduct::coll {

namespace {

struct Passes {
  Pass before;
  Pass after;
};

Passes passes_of(const Shape& shape, std::uint32_t first) noexcept {
  Passes out;
  if (shape.operation == Operation::barrier) return out;
  const bool from_root = shape.operation == Operation::broadcast || shape.operation == Operation::scatter;
  const bool to_root = shape.operation == Operation::reduce || shape.operation == Operation::gather;
  out.before = {.ranks = shape.ranks, .root = shape.root, .first = static_cast<Counter>(first)};
  if (shape.in == Sync::all) out.before.kind = from_root ? Pass::Kind::to_root : Pass::Kind::everybody;
  out.after = {
      .ranks = shape.ranks, .root = shape.root, .first = static_cast<Counter>(first + out.before.counters())};
  if (shape.out == Sync::all) out.after.kind = to_root ? Pass::Kind::from_root : Pass::Kind::everybody;
  return out;
}

/// A step that raises a counter of this member.
Step raising(Counter counter) noexcept {
  Step step;
  step.done = counter;
  return step;
}
Step waiting_for(Counter counter, std::uint32_t value) noexcept {
  Step step;
  step.wait_for = counter;
  step.wait_until = value;
  return step;
}

// What the algorithm needs and costs without the passes.
Needs own_needs(const Algorithm& algorithm, const Shape& shape) noexcept {
  return Announced::needed(algorithm, shape) ? Announced(algorithm, shape).needs() : algorithm.needs(shape);
}
Cost own_cost(const Algorithm& algorithm, const Shape& shape) noexcept {
  return Announced::needed(algorithm, shape) ? Announced(algorithm, shape).cost() : algorithm.cost(shape);
}

}  // namespace

Schedule::Schedule(const Algorithm& algorithm, const Shape& shape, Rank position) noexcept
    : algorithm_(algorithm), shape_(shape), position_(position), lanes_(algorithm.lanes(shape, position)) {
  if (Announced::needed(algorithm, shape)) announced_.emplace(algorithm, shape);
  const std::uint32_t own = own_needs(algorithm, shape).counters;
  const Passes passes = passes_of(shape, own);
  before_ = passes.before;
  after_ = passes.after;
  entered_ = static_cast<Counter>(own + before_.counters() + after_.counters());
  finished_ = static_cast<Counter>(entered_ + 1);
}

std::uint32_t Schedule::own_length(std::uint32_t lane) const noexcept {
  return announced_ ? announced_->length(position_, lane) : algorithm_.length(shape_, position_, lane);
}
Step Schedule::own_step(std::uint32_t lane, std::uint32_t index) const noexcept {
  return announced_ ? announced_->step(position_, lane, index)
                    : algorithm_.step(shape_, position_, lane, index);
}

// Lane 0: the pass before, a step that lets the other lanes begin, the algorithm's steps, a step that waits for the
// other lanes, the pass after. The others: a step that waits, the algorithm's steps, a step that says that they are over.

std::uint32_t Schedule::length(std::uint32_t lane) const noexcept {
  const std::uint32_t before = before_.length(position_);
  const std::uint32_t after = after_.length(position_);
  const std::uint32_t own = own_length(lane);
  const bool tied = lanes_ > 1;
  if (lane == 0) return before + (tied && before > 0) + own + (tied && after > 0) + after;
  return (before > 0) + own + (after > 0);
}

Step Schedule::step(std::uint32_t lane, std::uint32_t index) const noexcept {
  const std::uint32_t before = before_.length(position_);
  const std::uint32_t after = after_.length(position_);
  const std::uint32_t own = own_length(lane);
  const bool tied = lanes_ > 1;
  if (lane == 0) {
    if (index < before) return before_.step(position_, index);
    index -= before;
    if (tied && before > 0) {
      if (index == 0) return raising(entered_);
      --index;
    }
  } else if (before > 0) {
    if (index == 0) return waiting_for(entered_, 1);
    --index;
  }
  if (index < own) {
    Step step = own_step(lane, index);
    // With a pass behind it the lane still has something to do before the member may return.
    if (step.kind == Step::Kind::tell && after > 0) step.kind = Step::Kind::nothing;
    return step;
  }
  index -= own;
  if (lane != 0) return raising(finished_);
  if (tied && after > 0) {
    if (index == 0) return waiting_for(finished_, lanes_ - 1);
    --index;
  }
  return after_.step(position_, index);
}

Needs Schedule::needs(const Algorithm& algorithm, const Shape& shape) noexcept {
  Needs needs = own_needs(algorithm, shape);
  const Passes passes = passes_of(shape, needs.counters);
  needs.counters += passes.before.counters() + passes.after.counters() + 2;
  return needs;
}

Cost Schedule::cost(const Algorithm& algorithm, const Shape& shape) noexcept {
  Cost cost = own_cost(algorithm, shape);
  const Passes passes = passes_of(shape, 0);
  cost.messages += passes.before.messages() + passes.after.messages();
  cost.depth += passes.before.depth() + passes.after.depth();
  return cost;
}

const char* Schedule::refusal(const Algorithm& algorithm, const Shape& shape) noexcept {
  if (algorithm.operation != shape.operation) return "it is for another operation";
  for (std::size_t i = 0; i < algorithm.parameters.size(); ++i) {
    const std::uint32_t value = shape.parameters[i];
    if (value < algorithm.parameters[i].least || value > algorithm.parameters[i].most)
      return "a parameter is out of its range";
  }
  return algorithm.refusal(shape);
}

}  // namespace aqueduct::coll
