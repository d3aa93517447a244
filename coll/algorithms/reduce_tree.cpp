#include "coll/algorithms/reduce_tree.hpp"

#include "coll/algorithms/arrivals.hpp"

namespace aqueduct::coll {

namespace {

constexpr Counter kForwarded = 0;
constexpr Counter kChildren = 1;  // and those behind it

struct Reducing {
  Tree tree;
  Rank root;
  Rank top;  ///< the member that is the tree's root
  std::uint64_t bytes;

  Reducing(const Shape& shape, const Tree& over) noexcept
      : tree(over),
        root(shape.root),
        top(shape.commutative && shape.order != Order::exact ? shape.root : 0),
        bytes(shape.bytes) {}
  bool forwards() const noexcept { return top != root; }
  ChildCounters counters() const noexcept { return child_counters(kChildren, tree, bytes); }
  Place slot(std::uint32_t child) const noexcept { return at(Space::scratch, child * bytes); }
  Place result() const noexcept { return slot(tree.most_children()); }
};

}  // namespace

const char* reduce_tree_refusal(const Shape& shape, const Tree& tree) noexcept {
  if (shape.order == Order::exact && tree.depth() > 1)
    return "with this tree it does not combine one vector after the other";
  return nullptr;
}

Needs reduce_tree_needs(const Shape& shape, const Tree& tree) noexcept {
  if (shape.bytes == 0 || shape.ranks == 1) return {};
  const Reducing plan(shape, tree);
  const std::uint64_t slots = plan.tree.most_children() + (plan.forwards() ? 1u : 0u);
  return {.scratch = slots * shape.bytes, .temp = shape.bytes, .counters = kChildren + plan.counters().count};
}

// A reduction for each child; the put, which the operation's root has not if it is the tree's; the copy of a result that
// was forwarded.
std::uint32_t reduce_tree_length(const Shape& shape, const Tree& tree, Rank position) noexcept {
  if (shape.bytes == 0) return 0;
  if (shape.ranks == 1) return 1;
  const Reducing plan(shape, tree);
  const std::uint32_t children = plan.tree.children(relative(position, plan.top, shape.ranks));
  if (!plan.forwards()) return children + (position == shape.root ? 0 : 1);
  return children + (position == shape.root ? 2 : 1);
}

Step reduce_tree_step(const Shape& shape, const Tree& tree, Rank position, std::uint32_t index) noexcept {
  if (shape.ranks == 1) return copy_of(at(Space::in, 0), at(Space::out, 0), shape.bytes);
  const Reducing plan(shape, tree);
  const Rank here = relative(position, plan.top, shape.ranks);
  const std::uint32_t children = plan.tree.children(here);
  const Place sum = at(here == 0 && !plan.forwards() ? Space::out : Space::temp, 0);
  if (index < children) {
    // Slots are in the order of positions, which is the reverse of the order of sending.
    const Step step = reduction(index == 0 ? at(Space::in, 0) : sum, plan.slot(index), sum, plan.bytes);
    return plan.counters().when_arrived(step, index, children);
  }
  index -= children;
  const Place mine = children > 0 ? sum : at(Space::in, 0);
  if (here == 0) return put_to(shape.root, mine, plan.result(), plan.bytes, kForwarded);
  if (index > 0) return after(copy_of(plan.result(), at(Space::out, 0), plan.bytes), kForwarded, 1);
  const Rank parent = plan.tree.parent(here);
  const std::uint32_t slot = plan.tree.children(parent) - 1 - plan.tree.index_of(here);
  return put_to(absolute(parent, plan.top, shape.ranks), mine, plan.slot(slot), plan.bytes,
                plan.counters().of(slot));
}

Cost reduce_tree_cost(const Shape& shape, const Tree& tree) noexcept {
  if (shape.bytes == 0 || shape.ranks == 1) return {};
  const Reducing plan(shape, tree);
  const std::uint64_t messages = shape.ranks - (plan.forwards() ? 0u : 1u);
  return {.messages = messages,
          .bytes = messages * shape.bytes,
          .depth = plan.tree.depth() + (plan.forwards() ? 1 : 0)};
}

}  // namespace aqueduct::coll
