#include "tools/aqcheck/study_formulas.hpp"
#include "tools/aqcheck/study_rows.hpp"

#include <array>
#include <cstdint>

namespace aqueduct::aqcheck {

using coll::Operation;
using coll::Shape;

namespace {

Studied barrier_dissemination(const Shape& shape) {
  const std::uint64_t k = shape.parameters[0];
  return {.messages = shape.ranks * (k - 1) * log_up(shape.ranks, k),
          .depth = log_up(shape.ranks, k),
          .fewer_messages = !is_power(shape, k)};
}
Studied barrier_tree(const Shape& shape) {
  return {.messages = 2 * others(shape), .depth = 2 * deepest(shape, shape.parameters[0])};
}

Studied broadcast(const Shape& shape, std::uint64_t wanted, std::uint32_t depth, bool less) {
  return {.messages = others(shape) * segments(shape, wanted),
          .bytes = others(shape) * shape.bytes,
          .depth = depth,
          .less_depth = less};
}
Studied broadcast_flat(const Shape& shape) { return broadcast(shape, shape.parameters[0], 1, false); }
Studied broadcast_chain(const Shape& shape) {
  return broadcast(shape, shape.parameters[0], shape.ranks - 1, false);
}
Studied broadcast_k_ary(const Shape& shape) {
  return broadcast(shape, shape.parameters[1], log_up(shape.ranks, shape.parameters[0]), true);
}
Studied broadcast_k_nomial(const Shape& shape) {
  return broadcast(shape, shape.parameters[1], deepest(shape, shape.parameters[0]), false);
}
Studied broadcast_direct(const Shape& shape) {
  return with_readiness(shape, broadcast(shape, 1, deepest(shape, shape.parameters[0]), false));
}
Studied broadcast_circulant(const Shape& shape) {
  const std::uint64_t s = segments(shape, shape.parameters[0]);
  return broadcast(shape, s, static_cast<std::uint32_t>(s - 1) + lg(shape), true);
}
Studied broadcast_scatter(const Shape& shape) {
  return {.messages = 2 * others(shape) + lg(shape) * (others(shape) - 1),
          .bytes = others(shape) * shape.bytes,
          .depth = 1 + lg(shape),
          .less_depth = true};
}
/// A signal and a get for each edge and segment, and a signal in answer.
Studied broadcast_get(const Shape& shape) {
  const std::uint32_t depth =
      shape.parameters[0] == 1 ? shape.ranks - 1 : deepest(shape, shape.parameters[0]);
  const std::uint32_t answer = is_answered(shape) ? 1 : 0;
  return {.messages = others(shape) * (2 * segments(shape, shape.parameters[1]) + answer),
          .bytes = others(shape) * shape.bytes,
          .depth = 2 * depth + answer};
}
Studied broadcast_fork(const Shape& shape) {
  return broadcast(shape, shape.parameters[2], deepest_of_mesh(shape), false);
}
Studied broadcast_double_tree(const Shape& shape) {
  return broadcast(shape, shape.parameters[0], lg(shape), false);
}

constexpr std::array kBroadcasts{
    StudyEntry{Operation::barrier, "dissemination", barrier_dissemination,
               "no signals over distances of P or more, which would reach a member twice"},
    StudyEntry{Operation::barrier, "tree", barrier_tree, kShallow},
    StudyEntry{Operation::broadcast, "flat", broadcast_flat, kSame},
    StudyEntry{Operation::broadcast, "chain", broadcast_chain, kSame},
    StudyEntry{Operation::broadcast, "k-ary", broadcast_k_ary,
               "the study has no depth for it: ranges are cut to a k-th, so it is at most ceil(log_k P)"},
    StudyEntry{Operation::broadcast, "k-nomial", broadcast_k_nomial, kShallow},
    StudyEntry{Operation::broadcast, "direct", broadcast_direct, kReadiness},
    StudyEntry{Operation::broadcast, "circulant", broadcast_circulant,
               "s - 1 + lg are rounds; a chain of messages may skip some"},
    StudyEntry{
        Operation::broadcast, "scatter-all-gather", broadcast_scatter,
        "the study scatters down a tree in lg rounds, and sends 2 (P - 1) blocks in all; this scatter is "
        "flat, and nothing is put to the root. Parts from the last to the first are two puts"},
    StudyEntry{Operation::broadcast, "double-tree", broadcast_double_tree,
               "2 lg is time: a member sends to two children in turn; a chain of messages is half as long"},
    StudyEntry{Operation::broadcast, "fork", broadcast_fork,
               "the study names the tree only; the requirement has the sum of the dimensions, less one each"},
    StudyEntry{Operation::broadcast, "get", broadcast_get, kSame},
};

}  // namespace

std::span<const StudyEntry> rows_of_broadcasts() noexcept { return kBroadcasts; }

}  // namespace aqueduct::aqcheck
