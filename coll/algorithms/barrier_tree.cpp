#include "coll/algorithms/algorithms.hpp"
#include "coll/algorithms/steps.hpp"
#include "coll/schedule/tree.hpp"

namespace aqueduct::coll {

// Reports go up a k-nomial tree; when the root has them all, releases go down the same tree: 2 (P - 1) signals.
//
// Source: Mellor-Crummey and Scott, ACM Trans. Computer Systems 9(1), 1991.

namespace {

constexpr Parameter kBarrierTreeParameters[] = {{"radix", 2, 64, 4}};
constexpr Counter kReports = 0;
constexpr Counter kRelease = 1;

Tree barrier_tree(const Shape& shape) noexcept {
  return {Tree::Kind::k_nomial, shape.parameters[0], shape.ranks};
}

Needs barrier_tree_needs(const Shape&) noexcept { return {.counters = 2}; }

std::uint32_t barrier_tree_length(const Shape& shape, Rank position, std::uint32_t) noexcept {
  if (shape.ranks == 1) return 0;
  const std::uint32_t children = barrier_tree(shape).children(position);
  if (position == 0) return children;
  return 1 + std::max(children, 1u);  // a leaf only waits for its release
}

Step barrier_tree_step(const Shape& shape, Rank position, std::uint32_t, std::uint32_t index) noexcept {
  const Tree tree = barrier_tree(shape);
  const std::uint32_t children = tree.children(position);
  if (position != 0) {
    if (index == 0) {
      const Step report = signal_to(tree.parent(position), kReports);
      return children > 0 ? after(report, kReports, children) : report;
    }
    --index;
  }
  if (children == 0) return wait_only(kRelease, 1);
  const Step release = signal_to(tree.child(position, index), kRelease);
  if (index > 0) return release;
  return position == 0 ? after(release, kReports, children) : after(release, kRelease, 1);
}

Cost barrier_tree_cost(const Shape& shape) noexcept {
  return {.messages = 2 * (std::uint64_t{shape.ranks} - 1), .depth = 2 * barrier_tree(shape).depth()};
}

}  // namespace

const Algorithm kBarrierTree{
    .name = "tree",
    .operation = Operation::barrier,
    .parameters = kBarrierTreeParameters,
    .refusal = no_refusal,
    .needs = barrier_tree_needs,
    .lanes = one_lane,
    .length = barrier_tree_length,
    .step = barrier_tree_step,
    .cost = barrier_tree_cost,
    .brief = brief_by<barrier_tree_step>,
};

}  // namespace aqueduct::coll
