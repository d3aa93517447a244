#include "coll/schedule/schedule.hpp"

#include <type_traits>

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
  out.before = {.ranks = shape.ranks,
                .root = shape.root,
                .first = static_cast<Counter>(first),
                .groups = shape.groups.of,
                .few_signals = shape.few_signals};
  if (shape.in == Sync::all) out.before.kind = from_root ? Pass::Kind::to_root : Pass::Kind::everybody;
  out.after = {.ranks = shape.ranks,
               .root = shape.root,
               .first = static_cast<Counter>(first + out.before.counters()),
               .groups = shape.groups.of,
               .few_signals = shape.few_signals};
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

TeamSchedule::TeamSchedule(const Algorithm& algorithm, const Shape& shape) noexcept
    : algorithm_(algorithm), shape_(shape) {
  if (Announced::needed(algorithm, shape))
    announced_.emplace(algorithm, shape);
  else
    own_brief_ = algorithm.brief;
  const std::uint32_t own = own_needs(algorithm, shape).counters;
  const Passes passes = passes_of(shape, own);
  before_ = passes.before;
  after_ = passes.after;
  entered_ = static_cast<Counter>(own + before_.counters() + after_.counters());
  finished_ = static_cast<Counter>(entered_ + 1);
}

Shape TeamSchedule::seen_by(Rank position) const noexcept {
  Shape shape = shape_;
  shape.blocks.of = &views_[position];
  return shape;
}

std::uint32_t TeamSchedule::own_length(Rank position, std::uint32_t lane) const noexcept {
  if (!views_.empty()) return algorithm_.length(seen_by(position), position, lane);
  return announced_ ? announced_->length(position, lane) : algorithm_.length(shape_, position, lane);
}
Step TeamSchedule::own_step(Rank position, std::uint32_t lane, std::uint32_t index) const noexcept {
  if (!views_.empty()) return algorithm_.step(seen_by(position), position, lane, index);
  if (!notes_.empty()) return algorithm_.noted->step(shape_, notes_, position, lane, index);
  return announced_ ? announced_->step(position, lane, index)
                    : algorithm_.step(shape_, position, lane, index);
}
Brief TeamSchedule::slow_brief(Rank position, std::uint32_t lane, std::uint32_t index) const noexcept {
  if (views_.empty() && !notes_.empty())
    return algorithm_.noted->brief(shape_, notes_, position, lane, index);
  return brief_of(own_step(position, lane, index));
}

std::size_t TeamSchedule::notes(const Algorithm& algorithm, const Shape& shape) noexcept {
  return algorithm.noted == nullptr || Announced::needed(algorithm, shape) ? 0 : algorithm.noted->size(shape);
}
void TeamSchedule::take_notes(std::span<std::int8_t> notes) noexcept {
  if (notes.empty()) return;
  algorithm_.noted->write(shape_, notes);
  notes_ = notes;
  own_brief_ = nullptr;
}

// Lane 0: the pass before, a step that lets the other lanes begin, the algorithm's steps, a step that waits for the
// other lanes, the pass after. The others: a step that waits, the algorithm's steps, a step that says that they are over.

TeamSchedule::Lengths TeamSchedule::lengths(Rank position, std::uint32_t lane) const noexcept {
  Lengths out;
  out.before = before_.length(position);
  out.own = own_length(position, lane);
  out.after = after_.length(position);
  out.tied = lanes(position) > 1;
  if (lane == 0)
    out.all = out.before + (out.tied && out.before > 0) + out.own + (out.tied && out.after > 0) + out.after;
  else
    out.all = (out.before > 0) + out.own + (out.after > 0);
  return out;
}

namespace {

template <class Out>
Out made_of(const Step& step) noexcept {
  if constexpr (std::is_same_v<Out, Brief>)
    return brief_of(step);
  else
    return step;
}

}  // namespace

/// Out: Step or Brief. own_at(index) computes that of the algorithm.
template <class Out, class Own>
Out TeamSchedule::find(Rank position, std::uint32_t lane, std::uint32_t index, const Lengths& of_lane,
                       const Own& own_at) const noexcept {
  const std::uint32_t before = of_lane.before;
  const std::uint32_t own = of_lane.own;
  const std::uint32_t after = of_lane.after;
  const bool tied = of_lane.tied;
  if (lane == 0) {
    if (index < before) return made_of<Out>(before_.step(position, index));
    index -= before;
    if (tied && before > 0) {
      if (index == 0) return made_of<Out>(raising(entered_));
      --index;
    }
  } else if (before > 0) {
    if (index == 0) return made_of<Out>(waiting_for(entered_, 1));
    --index;
  }
  if (index < own) {
    Out step = own_at(index);
    // With a pass behind it the lane still has something to do before the member may return.
    if (step.kind == Step::Kind::tell && after > 0) step.kind = Step::Kind::nothing;
    return step;
  }
  index -= own;
  if (lane != 0) return made_of<Out>(raising(finished_));
  if (tied && after > 0) {
    if (index == 0) return made_of<Out>(waiting_for(finished_, lanes(position) - 1));
    --index;
  }
  return made_of<Out>(after_.step(position, index));
}

Step TeamSchedule::step(Rank position, std::uint32_t lane, std::uint32_t index,
                        const Lengths& of_lane) const noexcept {
  return find<Step>(position, lane, index, of_lane,
                    [&](std::uint32_t own) { return own_step(position, lane, own); });
}
Brief TeamSchedule::found_brief(Rank position, std::uint32_t lane, std::uint32_t index,
                                const Lengths& of_lane) const noexcept {
  return find<Brief>(position, lane, index, of_lane,
                     [&](std::uint32_t own) { return own_brief(position, lane, own); });
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
  // A host of one member has nobody to hear from; a tree's root goes on before the others.
  cost.depth_is_limit |= shape.groups.of != nullptr || passes.before.has_root() || passes.after.has_root();
  return cost;
}

const char* Schedule::refusal(const Algorithm& algorithm, const Shape& shape) noexcept {
  if (algorithm.operation != shape.operation) return "it is for another operation";
  for (std::size_t i = 0; i < algorithm.parameters.size(); ++i) {
    const std::uint32_t value = shape.parameters[i];
    if (value < algorithm.parameters[i].least || value > algorithm.parameters[i].most)
      return "a parameter is out of its range";
  }
  if (algorithm.hosts && shape.groups.of == nullptr)
    return "the team's members are on one host, or each on its own";
  if (algorithm.team_tree && shape.team_tree.of == nullptr)
    return "the team has no tree: neither AQUEDUCT_COLL_TREE nor Team::use_tree gives one for its size";
  return algorithm.refusal(shape);
}

}  // namespace aqueduct::coll
