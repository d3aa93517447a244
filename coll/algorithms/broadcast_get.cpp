#include "coll/algorithms/algorithms.hpp"
#include "coll/algorithms/reading.hpp"
#include "coll/schedule/rooted_tree.hpp"

namespace aqueduct::coll {

// Down a k-nomial tree, each member reading from its parent: radix 1 is the chain, radix P the flat tree. The bytes go from
// output to output, without a copy, if all members know these. If not, the root and members with children keep them in
// scratch; a leaf still gets them into its output.
//
// A member with children has two lanes: one gets segments as they are announced, the other passes the news on.
// Cost: P - 1 times two messages a segment, and one more unless buffers stay; twice the depth of the tree, and one.

namespace {

constexpr std::uint32_t kMostRead = 64;  // segments; chosen, so that counters are few
constexpr Parameter kBroadcastGetParameters[] = {{"radix", 1, 1024, 4}, {"segments", 1, kMostRead, 1}};

struct Reading {
  Segments parts;
  RootedTree tree;
  bool known;
  std::uint32_t answers;  ///< 1: a member says when it has all, and waits until its children have

  explicit Reading(const Shape& shape) noexcept
      : parts(shape.bytes, shape.element, shape.parameters[1]),
        tree({Tree::Kind::k_nomial, shape.parameters[0], shape.ranks}, shape.root),
        known(reads_buffers(shape)),
        answers(answers_to_owner(shape) ? 1 : 0) {}

  // Each segment has its own counters, since two messages may arrive in either order.
  Counter there(std::uint32_t segment) const noexcept { return static_cast<Counter>(segment); }
  Counter got(std::uint32_t segment) const noexcept { return static_cast<Counter>(parts.count + segment); }
  Counter taken() const noexcept { return static_cast<Counter>(2 * parts.count); }

  /// Where the children of a member find the bytes; a leaf has them there too.
  Space kept(Rank position, std::uint32_t children) const noexcept {
    if (!known) return children > 0 ? Space::scratch : Space::out;
    return tree.is_root(position) ? Space::in : Space::out;
  }
  /// A get for each segment. A leaf counts them all at once.
  Step get(Rank position, std::uint32_t children, std::uint32_t segment) const noexcept {
    const Rank parent = tree.parent(position);
    const std::uint64_t offset = parts.begin(segment);
    const Place from = at(kept(parent, 1), offset);
    const Counter counter = got(children > 0 ? segment : 0);
    return after(get_from(parent, from, at(kept(position, children), offset), parts.size(segment), counter),
                 there(segment), 1);
  }
  Step tell_child(Rank position, std::uint32_t child, std::uint32_t segment) const noexcept {
    return signal_to(tree.child(position, child), there(segment));
  }
  /// What a member with children does for each segment: a copy, if it keeps the bytes in scratch, and the news.
  std::uint32_t passing(std::uint32_t children) const noexcept { return children + (known ? 0 : 1); }
};

Needs broadcast_get_needs(const Shape& shape) noexcept {
  if (shape.ranks == 1 || shape.bytes == 0) return {};
  const Reading plan(shape);
  return {.scratch = plan.known ? 0 : shape.bytes, .counters = 2 * plan.parts.count + 1};
}

std::uint32_t broadcast_get_lanes(const Shape& shape, Rank position) noexcept {
  if (shape.bytes == 0 || position == shape.root) return 1;
  return Reading(shape).tree.children(position) > 0 ? 2 : 1;
}

// The root: its own copy; for each segment, a copy to scratch and the news to each child; the wait for the children. A
// leaf: its gets; when they are over it says so. Others: gets; in the other lane the news, the copy, and both ends.
std::uint32_t broadcast_get_length(const Shape& shape, Rank position, std::uint32_t lane) noexcept {
  if (shape.bytes == 0) return 0;
  if (shape.ranks == 1) return 1;
  const Reading plan(shape);
  const std::uint32_t children = plan.tree.children(position);
  if (children > 0 && lane == 0 && position != shape.root) return plan.parts.count;
  const std::uint32_t ends = position == shape.root || children == 0 ? 1 + plan.answers : 2 * plan.answers;
  return plan.parts.count * (children > 0 ? plan.passing(children) : 1) + ends;
}

Step broadcast_get_step(const Shape& shape, Rank position, std::uint32_t lane, std::uint32_t index) noexcept {
  const bool root = position == shape.root;
  if (root && index-- == 0) return copy_of(at(Space::in, 0), at(Space::out, 0), shape.bytes);
  const Reading plan(shape);
  const std::uint32_t segments = plan.parts.count;
  const std::uint32_t children = plan.tree.children(position);
  if (!root && lane == 0 && index < segments) return plan.get(position, children, index);
  if (children == 0) {
    return index == segments ? wait_only(plan.got(0), segments)
                             : signal_to(plan.tree.parent(position), plan.taken());
  }
  const std::uint32_t each = plan.passing(children);
  const std::uint32_t segment = index / each;
  const std::uint32_t turn = index % each;
  if (index >= segments * each) {
    return root || index > segments * each ? wait_only(plan.taken(), children)
                                           : signal_to(plan.tree.parent(position), plan.taken());
  }
  const std::uint64_t offset = plan.parts.begin(segment);
  if (root) {
    if (!plan.known && turn == 0)
      return copy_of(at(Space::in, offset), at(Space::scratch, offset), plan.parts.size(segment));
    return plan.tell_child(position, turn - (plan.known ? 0 : 1), segment);
  }
  // The news first: a copy of a long segment can wait.
  if (turn == children)
    return copy_of(at(Space::scratch, offset), at(Space::out, offset), plan.parts.size(segment));
  const Step news = plan.tell_child(position, turn, segment);
  return turn == 0 ? after(news, plan.got(segment), 1) : news;
}

Cost broadcast_get_cost(const Shape& shape) noexcept {
  if (shape.ranks == 1 || shape.bytes == 0) return {};
  const Reading plan(shape);
  const std::uint64_t edges = shape.ranks - 1;
  return {.messages = edges * (2 * std::uint64_t{plan.parts.count} + plan.answers),
          .bytes = edges * shape.bytes,
          .depth = 2 * plan.tree.depth() + plan.answers};
}

}  // namespace

const Algorithm kBroadcastGet{
    .name = "get",
    .operation = Operation::broadcast,
    .parameters = kBroadcastGetParameters,
    .reads = true,
    .refusal = no_refusal,
    .needs = broadcast_get_needs,
    .lanes = broadcast_get_lanes,
    .length = broadcast_get_length,
    .step = broadcast_get_step,
    .cost = broadcast_get_cost,
    .brief = brief_by<broadcast_get_step>,
};

}  // namespace aqueduct::coll
