#include "coll/algorithms/algorithms.hpp"
#include "coll/algorithms/steps.hpp"
#include "coll/schedule/tree.hpp"

namespace aqueduct::coll {

// Down a k-nomial tree from output to output: no scratch and no copy, for blocks of any length. With Sync::mine a child
// tells its parent that it has called, since the parent writes into its output.

namespace {

constexpr Parameter kBroadcastDirectParameters[] = {{"radix", 2, 64, 4}};
constexpr Counter kArrived = 0;
constexpr Counter kFirstReady = 1;

Tree direct_tree(const Shape& shape) noexcept {
  return {Tree::Kind::k_nomial, shape.parameters[0], shape.ranks};
}

Needs broadcast_direct_needs(const Shape& shape) noexcept {
  // A counter for each child: the one that is ready first need not be the one that is served first.
  return {.counters = kFirstReady + (asks(shape) ? direct_tree(shape).most_children() : 0)};
}

// If it asks, a member other than the root first tells its parent. It then waits for the bytes, and puts them to each
// child. The root puts its input to each child, and copies it to its output.
std::uint32_t broadcast_direct_length(const Shape& shape, Rank position, std::uint32_t) noexcept {
  if (shape.bytes == 0) return 0;
  const Rank here = relative(position, shape.root, shape.ranks);
  const std::uint32_t children = direct_tree(shape).children(here);
  return here == 0 ? children + 1 : (asks(shape) ? 1 : 0) + 1 + children;
}

Step broadcast_direct_step(const Shape& shape, Rank position, std::uint32_t, std::uint32_t index) noexcept {
  const Tree tree = direct_tree(shape);
  const Rank here = relative(position, shape.root, shape.ranks);
  const std::uint32_t children = tree.children(here);
  if (here != 0 && asks(shape)) {
    if (index == 0) {
      return signal_to(absolute(tree.parent(here), shape.root, shape.ranks),
                       static_cast<Counter>(kFirstReady + tree.index_of(here)));
    }
    --index;
  }
  if (here == 0 && index == children) return copy_of(at(Space::in, 0), at(Space::out, 0), shape.bytes);
  if (here != 0) {
    if (index == 0) return wait_only(kArrived, 1);
    --index;
  }
  const Step put =
      put_to(absolute(tree.child(here, index), shape.root, shape.ranks),
             at(here == 0 ? Space::in : Space::out, 0), at(Space::out, 0), shape.bytes, kArrived);
  return asks(shape) ? after(put, static_cast<Counter>(kFirstReady + index), 1) : put;
}

Cost broadcast_direct_cost(const Shape& shape) noexcept {
  if (shape.ranks == 1 || shape.bytes == 0) return {};
  const std::uint64_t edges = shape.ranks - 1;
  // Readiness travels while the parent waits, so it is on the longest chain only where nothing else is: once.
  return {.messages = edges * (asks(shape) ? 2 : 1),
          .bytes = edges * shape.bytes,
          .depth = direct_tree(shape).depth() + (asks(shape) ? 1 : 0)};
}

}  // namespace

const Algorithm kBroadcastDirect{
    .name = "direct",
    .operation = Operation::broadcast,
    .parameters = kBroadcastDirectParameters,
    .direct = true,
    .refusal = no_refusal,
    .needs = broadcast_direct_needs,
    .lanes = one_lane,
    .length = broadcast_direct_length,
    .step = broadcast_direct_step,
    .cost = broadcast_direct_cost,
};

}  // namespace aqueduct::coll
