#include "coll/algorithms/algorithms.hpp"
#include "coll/algorithms/broadcast_tree.hpp"
#include "coll/algorithms/double_tree.hpp"

namespace aqueduct::coll {

// Up the two trees of double_tree.hpp to member 0, which combines and sends the result down the same trees. A segment goes
// down while others still go up: every member is busy with both directions. Long vectors, many members: the depth is that of
// a tree, where circulant graphs and rings cut the vector into a part for each member. The operator must be commutative,
// since the two trees have the members in different orders; each element is combined by one order, so all have the same bits.
//
// Cost: 2 (P - 1) messages a segment and twice the vector sent by each member.

namespace {

constexpr Parameter kAllReduceDoubleTreeParameters[] = {{"segments", 1, kMostSegments, 8}};

struct DoubleReduction {
  HalfTree tree;
  Segments parts;
  std::uint64_t bytes;

  DoubleReduction(const Shape& shape, bool second) noexcept
      : tree{shape.ranks - 1, second},
        parts(shape.bytes, shape.element, shape.parameters[0]),
        bytes(shape.bytes) {}

  /// The segments of this tree.
  std::uint32_t count() const noexcept { return (parts.count + (tree.second ? 0 : 1)) / 2; }
  std::uint32_t segment(std::uint32_t index) const noexcept { return 2 * index + (tree.second ? 1 : 0); }
  // Scratch: what the lower child sends, and the upper one; then the result.
  Place slot(std::uint32_t child, std::uint32_t segment) const noexcept {
    return at(Space::scratch, child * bytes + parts.begin(segment));
  }
  Place result(std::uint32_t segment) const noexcept {
    return at(Space::scratch, 2 * bytes + parts.begin(segment));
  }
  Counter summed(std::uint32_t child, std::uint32_t segment) const noexcept {
    return static_cast<Counter>(child * parts.count + segment);
  }
  Counter known(std::uint32_t segment) const noexcept {
    return static_cast<Counter>(2 * parts.count + segment);
  }
};

const char* all_reduce_double_tree_refusal(const Shape& shape) noexcept {
  if (!shape.commutative) return "it needs a commutative operator";
  if (shape.order == Order::exact) return "it does not combine one vector after the other";
  return nullptr;
}

Needs all_reduce_double_tree_needs(const Shape& shape) noexcept {
  if (shape.bytes == 0 || shape.ranks == 1) return {};
  return {.scratch = 3 * shape.bytes,
          .temp = shape.bytes,
          .counters = 3 * DoubleReduction(shape, false).parts.count};
}

/// What one lane of a member does, member 0 excepted: everything in one of the trees. In one tree at least the member is a leaf:
/// there it waits for nobody and sends all its segments at once. Where it has children, it first sends `ahead` segments up, then
/// one down and one up in turns.
struct DoubleTreeTurns {
  DoubleReduction plan;
  Rank label;
  std::uint32_t steps;  ///< for a segment, in each direction
  std::uint32_t ahead;

  DoubleTreeTurns(const Shape& shape, Rank position, std::uint32_t lane) noexcept
      : plan(shape, is_second(shape, position, lane)),
        label(plan.tree.label(position)),
        steps(plan.tree.children(label) + 1),
        ahead(steps == 1 ? plan.count() : std::min(plan.count(), rounds_of(shape.ranks, 2))) {}

  std::uint32_t length() const noexcept { return 2 * plan.count() * steps; }

  struct Turn {
    bool up;
    std::uint32_t index;  ///< of the segment, among those of the tree
  };
  Turn turn(std::uint32_t index) const noexcept {
    const std::uint32_t turn = index / steps;
    if (turn < ahead) return {true, turn};
    const std::uint32_t in_turns = turn - ahead;
    const std::uint32_t left = plan.count() - ahead;
    if (in_turns >= 2 * left) return {false, in_turns - left};
    return {in_turns % 2 == 0, in_turns % 2 == 0 ? ahead + in_turns / 2 : in_turns / 2};
  }

 private:
  /// Lane 0 has the tree in which the member has children. A single segment leaves the second tree without any.
  static bool is_second(const Shape& shape, Rank position, std::uint32_t lane) noexcept {
    const DoubleReduction first(shape, false);
    if (first.parts.count < 2) return false;
    const bool inner_in_second =
        HalfTree{shape.ranks - 1, true}.children(HalfTree{shape.ranks - 1, true}.label(position)) != 0;
    return (lane == 0) == inner_in_second;
  }
};

// Member 0 deals with both trees in one lane: of each segment the reduction, and a put. The others have a lane for each tree.
std::uint32_t all_reduce_double_tree_lanes(const Shape& shape, Rank position) noexcept {
  if (shape.ranks == 1 || shape.bytes == 0 || position == 0) return 1;
  return DoubleReduction(shape, false).parts.count < 2 ? 1 : 2;
}

// Going up: a reduction for each child, and a put. Going down: a put for each child, and a copy.
std::uint32_t all_reduce_double_tree_length(const Shape& shape, Rank position, std::uint32_t lane) noexcept {
  if (shape.bytes == 0) return 0;
  if (shape.ranks == 1) return 1;
  if (position == 0) return 2 * DoubleReduction(shape, false).parts.count;
  return DoubleTreeTurns(shape, position, lane).length();
}

Step up_double_tree(const DoubleReduction& plan, Rank label, std::uint32_t segment,
                    std::uint32_t child) noexcept {
  const std::uint32_t children = plan.tree.children(label);
  const std::uint64_t offset = plan.parts.begin(segment);
  const Place own = at(Space::in, offset);
  const Place sum = at(Space::temp, offset);
  if (child < children) {
    const Step step = child == 0 ? reduction(plan.slot(0, segment), own, sum, plan.parts.size(segment))
                                 : reduction(sum, plan.slot(child, segment), sum, plan.parts.size(segment));
    return after(step, plan.summed(child, segment), 1);
  }
  const bool is_top = plan.tree.here(label) == plan.tree.top();
  const Rank parent = is_top ? 0 : plan.tree.parent(label);
  const std::uint32_t slot = parent != 0 && label > parent ? 1 : 0;
  return put_to(is_top ? 0 : plan.tree.here(parent), children > 0 ? sum : own, plan.slot(slot, segment),
                plan.parts.size(segment), plan.summed(slot, segment));
}

Step down_double_tree(const DoubleReduction& plan, Rank label, std::uint32_t segment,
                      std::uint32_t child) noexcept {
  const std::uint32_t children = plan.tree.children(label);
  const std::uint64_t bytes = plan.parts.size(segment);
  const Place result = plan.result(segment);
  const Step step = child < children ? put_to(plan.tree.here(plan.tree.child(label, child)), result, result,
                                              bytes, plan.known(segment))
                                     : copy_of(result, at(Space::out, plan.parts.begin(segment)), bytes);
  return child == 0 ? after(step, plan.known(segment), 1) : step;
}

Step all_reduce_double_tree_step(const Shape& shape, Rank position, std::uint32_t lane,
                                 std::uint32_t index) noexcept {
  if (shape.ranks == 1) return copy_of(at(Space::in, 0), at(Space::out, 0), shape.bytes);
  if (position != 0) {
    const DoubleTreeTurns turns(shape, position, lane);
    const DoubleTreeTurns::Turn turn = turns.turn(index);
    const std::uint32_t segment = turns.plan.segment(turn.index);
    const std::uint32_t child = index % turns.steps;
    return turn.up ? up_double_tree(turns.plan, turns.label, segment, child)
                   : down_double_tree(turns.plan, turns.label, segment, child);
  }
  const std::uint32_t segment = index / 2;
  const DoubleReduction plan(shape, segment % 2 == 1);
  const std::uint64_t offset = plan.parts.begin(segment);
  const std::uint64_t bytes = plan.parts.size(segment);
  const Place sum = at(Space::out, offset);
  if (index % 2 == 1) return put_to(plan.tree.top(), sum, plan.result(segment), bytes, plan.known(segment));
  return after(reduction(at(Space::in, offset), plan.slot(0, segment), sum, bytes), plan.summed(0, segment),
               1);
}

Cost all_reduce_double_tree_cost(const Shape& shape) noexcept {
  if (shape.bytes == 0 || shape.ranks == 1) return {};
  const DoubleReduction first(shape, false);
  const std::uint64_t edges = 2 * std::uint64_t{shape.ranks - 1};
  const std::uint32_t depth = rounds_of(shape.ranks, 2);
  // A segment may wait for one that comes down, which has gone up `depth` segments before it.
  return {.messages = edges * first.parts.count,
          .bytes = edges * shape.bytes,
          .depth = 2 * depth * ((first.count() - 1) / depth + 1),
          .depth_is_limit = true};
}

}  // namespace

const Algorithm kAllReduceDoubleTree{
    .name = "double-tree",
    .operation = Operation::all_reduce,
    .parameters = kAllReduceDoubleTreeParameters,
    .refusal = all_reduce_double_tree_refusal,
    .needs = all_reduce_double_tree_needs,
    .lanes = all_reduce_double_tree_lanes,
    .length = all_reduce_double_tree_length,
    .step = all_reduce_double_tree_step,
    .cost = all_reduce_double_tree_cost,
    .brief = brief_by<all_reduce_double_tree_step>,
};

}  // namespace aqueduct::coll
