#include "coll/algorithms/algorithms.hpp"
#include "coll/algorithms/arrivals.hpp"
#include "coll/algorithms/steps.hpp"
#include "coll/schedule/groups_tree.hpp"
#include "coll/schedule/tree.hpp"

namespace aqueduct::coll {

// A reduction up a k-nomial tree, and the result down the same tree: 2 (P - 1) messages, the fewest. A parent has a slot
// for each child and combines in the order of positions, so the operator need not be commutative. Many members, or a
// network that takes few messages at a time. With radix P it is flat, and then combines one vector after the other.
//
// `hosts-tree` is the same on a tree of which only leaders send between hosts: any number of them, 2 (G - 1) messages. It
// combines the vectors of a host first, so the operator must commute.

namespace {

constexpr Parameter kAllReduceTreeParameters[] = {{"radix", 2, 1024, 2}};
constexpr Parameter kAllReduceHostsTreeParameters[] = {{"radix", 2, 64, 2}};
constexpr Counter kDown = 0;
constexpr Counter kUp = 1;  // and those behind it

Tree reduce_tree(const Shape& shape) noexcept {
  return {Tree::Kind::k_nomial, shape.parameters[0], shape.ranks};
}
GroupsTree reduce_groups_tree(const Shape& shape) noexcept {
  return {*shape.groups.of, 0, shape.parameters[0]};
}

/// A tree in which the root has all others as children combines ((x0 ∘ x1) ∘ x2) ….
const char* all_reduce_tree_refusal(const Shape& shape) noexcept {
  if (shape.order == Order::exact && reduce_tree(shape).depth() > 1)
    return "with this radix it does not combine one vector after the other";
  return nullptr;
}
const char* all_reduce_hosts_tree_refusal(const Shape& shape) noexcept {
  if (shape.order == Order::exact || !shape.commutative) return "it combines the vectors of a host first";
  return nullptr;
}

/// The steps on a tree whose root is position 0.
template <class AnyTree, AnyTree (*tree_of)(const Shape&) noexcept>
struct TreeReduction {
  // Scratch: a slot for each child, then one for the result.
  static std::uint64_t result_at(const Shape& shape) noexcept {
    return tree_of(shape).most_children() * shape.bytes;
  }

  static Needs needs(const Shape& shape) noexcept {
    if (shape.bytes == 0 || shape.ranks == 1) return {};
    return {.scratch = result_at(shape) + shape.bytes,
            .temp = shape.bytes,
            .counters = kUp + child_counters(kUp, tree_of(shape), shape.bytes).count};
  }

  // A reduction for each child; but for the root, a put to the parent; a put of the result for each child; but for the
  // root, the copy of the result.
  static std::uint32_t length(const Shape& shape, Rank position, std::uint32_t) noexcept {
    if (shape.bytes == 0) return 0;
    if (shape.ranks == 1) return 1;
    return 2 * tree_of(shape).children(position) + (position == 0 ? 0 : 2);
  }

  static Step step(const Shape& shape, Rank position, std::uint32_t, std::uint32_t index) noexcept {
    if (shape.ranks == 1) return copy_of(at(Space::in, 0), at(Space::out, 0), shape.bytes);
    const AnyTree tree = tree_of(shape);
    const std::uint32_t children = tree.children(position);
    const Place sum = at(position == 0 ? Space::out : Space::temp, 0);
    const Place result = at(Space::scratch, result_at(shape));
    if (index < children) {
      // The reverse of the order of sending: in the plain tree the order of positions.
      const Step step = reduction(index == 0 ? at(Space::in, 0) : sum,
                                  at(Space::scratch, index * shape.bytes), sum, shape.bytes);
      return child_counters(kUp, tree, shape.bytes).when_arrived(step, index, children);
    }
    index -= children;
    if (position != 0) {
      if (index == 0) {
        const Rank parent = tree.parent(position);
        const std::uint32_t slot = tree.children(parent) - 1 - tree.index_of(position);
        return put_to(parent, children > 0 ? sum : at(Space::in, 0), at(Space::scratch, slot * shape.bytes),
                      shape.bytes, child_counters(kUp, tree, shape.bytes).of(slot));
      }
      --index;
    }
    const Step step = index < children ? put_to(tree.child(position, index), position == 0 ? sum : result,
                                                result, shape.bytes, kDown)
                                       : copy_of(result, at(Space::out, 0), shape.bytes);
    return position != 0 && index == 0 ? after(step, kDown, 1) : step;
  }

  static Cost cost(const Shape& shape) noexcept {
    if (shape.bytes == 0 || shape.ranks == 1) return {};
    const std::uint64_t messages = 2 * (std::uint64_t{shape.ranks} - 1);
    return {.messages = messages,
            .bytes = messages * shape.bytes,
            .depth = 2 * tree_of(shape).depth(),
            .depth_is_limit = shape.groups.of != nullptr};
  }
};

using OfAll = TreeReduction<Tree, reduce_tree>;
using OfHosts = TreeReduction<GroupsTree, reduce_groups_tree>;

}  // namespace

const Algorithm kAllReduceTree{
    .name = "tree",
    .operation = Operation::all_reduce,
    .parameters = kAllReduceTreeParameters,
    .refusal = all_reduce_tree_refusal,
    .needs = OfAll::needs,
    .lanes = one_lane,
    .length = OfAll::length,
    .step = OfAll::step,
    .cost = OfAll::cost,
};

const Algorithm kAllReduceHostsTree{
    .name = "hosts-tree",
    .operation = Operation::all_reduce,
    .parameters = kAllReduceHostsTreeParameters,
    .hosts = true,
    .refusal = all_reduce_hosts_tree_refusal,
    .needs = OfHosts::needs,
    .lanes = one_lane,
    .length = OfHosts::length,
    .step = OfHosts::step,
    .cost = OfHosts::cost,
};

}  // namespace aqueduct::coll
