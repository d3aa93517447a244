#include "coll/schedule/added.hpp"

#include "coll/schedule/added_steps.hpp"

#include <fmt/format.h>

#include <utility>

namespace aqueduct::detail {

using coll::Place;
using coll::Shape;
using coll::Space;
using coll::Step;

/// A counter of the engine holds 16 bits.
constexpr std::uint32_t kMostAwaited = 0xffff;

/// Goes through the steps of a member, and keeps the one that is asked for.
class StepCollector {
 public:
  /// `all`: where to keep all of them too, as far as there is room; null: nowhere.
  StepCollector(const Shape& shape, const coll::Needs& needs, Rank position, std::uint32_t wanted,
                std::vector<Step>* all = nullptr) noexcept
      : shape_(shape), needs_(needs), position_(position), wanted_(wanted), all_(all) {}

  void wait(std::uint32_t counter, std::uint32_t total) noexcept {
    if (counter >= needs_.counters || total == 0)
      return wrong("waits for a counter beyond those that it needs, or for nothing");
    if (total > kMostAwaited) return wrong("waits for a counter to reach more than 65,535");
    if (pending_.wait_for != coll::kNoCounter) take(std::exchange(pending_, {}));
    pending_.wait_for = static_cast<coll::Counter>(counter);
    pending_.wait_until = total;
  }
  void step(Step step) noexcept {
    if (const char* const problem = problem_of(step)) {
      wrong(problem);
      step = {};
    }
    step.wait_for = pending_.wait_for;
    step.wait_until = pending_.wait_until;
    pending_ = {};
    take(step);
  }
  void end() noexcept {
    if (pending_.wait_for != coll::kNoCounter) take(std::exchange(pending_, {}));
  }

  std::uint32_t count() const noexcept { return count_; }
  const Step& found() const noexcept { return found_; }
  const char* problem() const noexcept { return problem_; }
  std::uint32_t problem_at() const noexcept { return problem_at_; }

 private:
  void take(const Step& step) noexcept {
    if (count_++ == wanted_) found_ = step;
    if (all_ != nullptr && all_->size() < all_->capacity()) all_->push_back(step);  // `build` must not throw
  }
  void wrong(const char* problem) noexcept {
    if (problem_ != nullptr) return;
    problem_ = problem;
    problem_at_ = count_;
  }
  std::uint64_t bytes_of(Space space) const noexcept {
    const auto blocks = [&](Rank count) {
      return count == 0 ? 0 : (count - 1) * shape_.pitch + shape_.bytes;
    };
    switch (space) {
      case Space::in: return blocks(coll::blocks_in(shape_, position_));
      case Space::out:
        // Nothing comes before member 0.
        if (shape_.operation == coll::Operation::exscan && position_ == 0) return 0;
        return blocks(coll::blocks_out(shape_, position_));
      case Space::scratch: return needs_.scratch;
      case Space::temp: return needs_.temp;
      default: return 0;
    }
  }
  bool holds(const Place& place, std::uint64_t bytes) const noexcept {
    const std::uint64_t all = bytes_of(place.space);
    return bytes <= all && place.offset <= all - bytes;
  }
  bool is_counter(std::uint32_t counter) const noexcept { return counter < needs_.counters; }

  const char* problem_of(const Step& step) const noexcept {
    const bool message = step.kind == Step::Kind::put || step.kind == Step::Kind::signal;
    if (message && (step.peer >= shape_.ranks || step.peer == position_))
      return "names a peer that is not there, or is this member";
    if (message && !is_counter(step.raise)) return "raises a counter beyond those that it needs";
    if (step.done != coll::kNoCounter && !is_counter(step.done))
      return "raises a counter of its own beyond those that it needs";
    if (step.kind == Step::Kind::signal) return nullptr;
    if (step.from.space == Space::none || step.to.space == Space::none ||
        (step.kind == Step::Kind::reduce && step.with.space == Space::none))
      return "names memory of a kind that is not there";
    if (!holds(step.from, step.bytes)) return "reads beyond the end of its memory";
    if (step.to.space == Space::in) return "writes to the input";
    if (!holds(step.to, step.bytes)) return "writes beyond the end of its memory";
    if (step.kind != Step::Kind::reduce) return nullptr;
    if (!coll::reduces(shape_.operation)) return "combines in an operation that has no operator";
    if (!holds(step.with, step.bytes)) return "reads beyond the end of its memory";
    return step.bytes % shape_.element != 0 ? "combines a part of an element" : nullptr;
  }

  const Shape& shape_;
  coll::Needs needs_;
  Rank position_;
  std::uint32_t wanted_;
  std::vector<Step>* all_;
  std::uint32_t count_ = 0;
  Step pending_;  ///< a wait, which the next step takes with it
  Step found_;
  const char* problem_ = nullptr;
  std::uint32_t problem_at_ = 0;
};

}  // namespace aqueduct::detail

namespace aqueduct {

namespace {

coll::Place place_of(const StepPlace& place) noexcept {
  constexpr coll::Space kSpaces[] = {coll::Space::in, coll::Space::out, coll::Space::scratch,
                                     coll::Space::temp};
  const auto number = static_cast<std::size_t>(place.memory);
  return {number < 4 ? kSpaces[number] : coll::Space::none, place.offset, 0};
}

/// A number that is too large for a counter is one beyond those that any algorithm needs.
coll::Counter counter_of(std::uint32_t number) noexcept {
  return number < StepList::kNoCounter ? static_cast<coll::Counter>(number) : coll::kNoCounter;
}

}  // namespace

void StepList::wait(std::uint32_t counter, std::uint32_t total) noexcept { into_.wait(counter, total); }

void StepList::put(Rank peer, StepPlace from, std::uint64_t to_scratch, std::uint64_t bytes,
                   std::uint32_t counter, std::uint32_t done) noexcept {
  coll::Step step;
  step.kind = coll::Step::Kind::put;
  step.peer = peer;
  step.from = place_of(from);
  step.to = {coll::Space::scratch, to_scratch, 0};
  step.bytes = bytes;
  step.raise = counter_of(counter);
  step.done = counter_of(done);
  into_.step(step);
}

void StepList::signal(Rank peer, std::uint32_t counter) noexcept {
  coll::Step step;
  step.kind = coll::Step::Kind::signal;
  step.peer = peer;
  step.raise = counter_of(counter);
  into_.step(step);
}

void StepList::copy(StepPlace from, StepPlace to, std::uint64_t bytes) noexcept {
  coll::Step step;
  step.kind = coll::Step::Kind::copy;
  step.from = place_of(from);
  step.to = place_of(to);
  step.bytes = bytes;
  into_.step(step);
}

void StepList::reduce(StepPlace left, StepPlace right, StepPlace to, std::uint64_t bytes) noexcept {
  coll::Step step;
  step.kind = coll::Step::Kind::reduce;
  step.from = place_of(left);
  step.with = place_of(right);
  step.to = place_of(to);
  step.bytes = bytes;
  into_.step(step);
}

}  // namespace aqueduct

namespace aqueduct::coll {

namespace {

using aqueduct::detail::StepCollector;

/// An operation has counters of its own, and those of its passes. Chosen.
constexpr std::uint32_t kMostCounters = 0xf000;
/// Chosen: more than any host has, and far from where sums of such numbers wrap.
constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 48;

AlgorithmCall call_of(const Shape& shape) noexcept {
  return {.operation = shape.operation,
          .in = shape.in,
          .out = shape.out,
          .order = shape.order,
          .commutative = shape.commutative,
          .ranks = shape.ranks,
          .root = shape.root,
          .element = shape.element,
          .bytes = shape.bytes,
          .pitch = shape.pitch,
          .parameters = shape.parameters,
          .context = shape.added.of->given.context.get()};
}

Needs needs_of(const Shape& shape) noexcept {
  if (shape.added.of == nullptr || shape.ranks == 1) return {};
  const AlgorithmNeeds needs = shape.added.of->given.needs(call_of(shape));
  return {needs.scratch, needs.temporary, needs.counters};
}

const char* refusal_of(const Shape& shape) noexcept {
  if (shape.added.of == nullptr) return "the program has not added it here";
  const CollectiveAlgorithm& given = shape.added.of->given;
  const AlgorithmCall call = call_of(shape);
  if (const char* const reason = given.refusal != nullptr ? given.refusal(call) : nullptr) return reason;
  const AlgorithmNeeds needs = given.needs(call);
  if (needs.counters > kMostCounters) return "it needs too many counters";
  return needs.scratch > kMostBytes || needs.temporary > kMostBytes ? "it needs more memory than there is"
                                                                    : nullptr;
}

Cost cost_of(const Shape& shape) noexcept {
  if (shape.added.of == nullptr || shape.ranks == 1) return {};
  const AlgorithmCost cost = shape.added.of->given.cost(call_of(shape));
  return {cost.messages, cost.bytes, cost.depth, true};
}

std::uint32_t lanes_of(const Shape&, Rank) noexcept { return 1; }

StepCollector collect(const Shape& shape, Rank position, std::uint32_t wanted,
                      std::vector<Step>* all = nullptr) noexcept {
  StepCollector collector(shape, needs_of(shape), position, wanted, all);
  if (shape.added.of == nullptr) return collector;
  StepList list(collector);
  shape.added.of->given.build(call_of(shape), position, list);
  collector.end();
  return collector;
}

std::uint32_t length_of(const Shape& shape, Rank position, std::uint32_t) noexcept {
  return collect(shape, position, ~0u).count();
}

Step step_of(const Shape& shape, Rank position, std::uint32_t, std::uint32_t index) noexcept {
  return collect(shape, position, index).found();
}

}  // namespace

AddedAlgorithm::AddedAlgorithm(CollectiveAlgorithm from)
    : given(std::move(from)),
      algorithm{.name = given.name,
                .operation = given.operation,
                .parameters = {},
                .refusal = refusal_of,
                .needs = needs_of,
                .lanes = lanes_of,
                .length = length_of,
                .step = step_of,
                .cost = cost_of,
                .added = this} {
  for (const AlgorithmParameter& one : given.parameters)
    parameters.push_back({one.name, one.least, one.most, one.usual});
  algorithm.parameters = parameters;
}

std::vector<Step> all_steps(const Shape& shape, Rank position) {
  std::vector<Step> all;
  all.reserve(length_of(shape, position, 0));
  collect(shape, position, ~0u, &all);
  return all;
}

std::string wrong_steps(const Algorithm& algorithm, const Shape& shape, Rank position) {
  if (algorithm.added == nullptr) return {};
  const StepCollector collector = collect(shape, position, ~0u);
  if (collector.problem() == nullptr) return {};
  return fmt::format("step {} of member {} of {} {}", collector.problem_at(), position, shape.ranks,
                     collector.problem());
}

}  // namespace aqueduct::coll
