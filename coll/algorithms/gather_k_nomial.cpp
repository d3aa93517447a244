#include "coll/algorithms/algorithms.hpp"
#include "coll/algorithms/steps.hpp"
#include "coll/schedule/tree.hpp"

namespace aqueduct::coll {

// Up a k-nomial tree: a member collects the blocks of its subtree in scratch, in the order of positions counted from the
// root, and puts them to its parent in one message. The root copies them to its output. Short blocks. With radix P it is
// flat.
//
// Cost: P - 1 messages; each block travels over as many edges as its member is deep.

namespace {

constexpr Parameter kGatherKNomialParameters[] = {{"radix", 2, 1024, 4}};
constexpr Counter kGathered = 0;

Tree gather_tree(const Shape& shape) noexcept {
  return {Tree::Kind::k_nomial, shape.parameters[0], shape.ranks};
}

Needs gather_k_nomial_needs(const Shape& shape) noexcept {
  if (shape.bytes == 0 || shape.ranks == 1) return {};
  return {.scratch = shape.ranks * shape.bytes, .counters = 1};
}

// A leaf has its put. Another member first copies its own block. The root copies to its output: its own block, those of
// the members behind it, and those of the members from 0 on.
std::uint32_t gather_k_nomial_length(const Shape& shape, Rank position, std::uint32_t) noexcept {
  if (shape.bytes == 0) return 0;
  if (shape.ranks == 1) return 1;
  const Rank here = relative(position, shape.root, shape.ranks);
  if (here != 0) return gather_tree(shape).children(here) == 0 ? 1 : 2;
  return position == 0 || position + 1 == shape.ranks ? 2 : 3;
}

Step gather_k_nomial_step(const Shape& shape, Rank position, std::uint32_t, std::uint32_t index) noexcept {
  const Tree tree = gather_tree(shape);
  const Rank here = relative(position, shape.root, shape.ranks);
  const std::uint32_t children = tree.children(here);
  if (here == 0) {
    if (index == 0) return copy_of(at(Space::in, 0), at(Space::out, position * shape.pitch), shape.bytes);
    const Rank behind = shape.ranks - position;  // where member 0 is, counted from the root
    const bool last = index == 2 || behind == 1;
    Step copy;
    copy.kind = Step::Kind::copy;
    copy.from = {Space::scratch, (last ? behind : 1) * shape.bytes, shape.bytes};
    copy.to = {Space::out, last ? 0 : (position + 1) * shape.pitch, shape.pitch};
    copy.bytes = shape.bytes;
    copy.runs = last ? position : behind - 1;
    return index == 1 ? after(copy, kGathered, children) : copy;
  }
  if (children > 0 && index == 0) return copy_of(at(Space::in, 0), at(Space::scratch, 0), shape.bytes);
  const Rank parent = tree.parent(here);
  const Step put =
      put_to(absolute(parent, shape.root, shape.ranks), at(children > 0 ? Space::scratch : Space::in, 0),
             at(Space::scratch, (here - parent) * shape.bytes), tree.subtree(here) * shape.bytes, kGathered);
  return children > 0 ? after(put, kGathered, children) : put;
}

Cost gather_k_nomial_cost(const Shape& shape) noexcept {
  if (shape.ranks == 1 || shape.bytes == 0) return {};
  const Tree tree = gather_tree(shape);
  std::uint64_t blocks = 0;
  for (Rank here = 1; here < shape.ranks; ++here) blocks += tree.subtree(here);
  return {.messages = shape.ranks - 1, .bytes = blocks * shape.bytes, .depth = tree.depth()};
}

}  // namespace

const Algorithm kGatherKNomial{
    .name = "k-nomial",
    .operation = Operation::gather,
    .parameters = kGatherKNomialParameters,
    .refusal = no_refusal,
    .needs = gather_k_nomial_needs,
    .lanes = one_lane,
    .length = gather_k_nomial_length,
    .step = gather_k_nomial_step,
    .cost = gather_k_nomial_cost,
};

}  // namespace aqueduct::coll
