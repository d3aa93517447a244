#include "coll/schedule/passes.hpp"

#include "coll/schedule/tree.hpp"

#include <bit>

namespace aqueduct::coll {

namespace {

// Chosen: a parent takes few signals at once, and the tree is half as deep as a binomial one.
constexpr std::uint32_t kPassRadix = 4;

Tree pass_tree(Rank ranks) noexcept { return {Tree::Kind::k_nomial, kPassRadix, ranks}; }

/// rounds_of(ranks, 2), which each step of a dissemination asks for. Requires: ranks > 1.
std::uint32_t doublings_to(Rank ranks) noexcept {
  return static_cast<std::uint32_t>(std::bit_width(ranks - 1));
}

Step waiting(Counter counter, std::uint32_t value) noexcept {
  Step step;
  step.wait_for = counter;
  step.wait_until = value;
  return step;
}
Step signalling(Rank peer, Counter counter) noexcept {
  Step step;
  step.kind = Step::Kind::signal;
  step.peer = peer;
  step.raise = counter;
  return step;
}

}  // namespace

std::uint32_t Pass::counters() const noexcept {
  if (kind == Kind::none || ranks == 1) return 0;
  return kind == Kind::everybody ? doublings_to(ranks) : 1;
}

std::uint32_t Pass::length(Rank position) const noexcept {
  if (kind == Kind::none || ranks == 1) return 0;
  if (kind == Kind::everybody) return doublings_to(ranks) + 1;
  if (kind == Kind::to_root) return 1;
  // A leaf has a step that only waits.
  const std::uint32_t children = pass_tree(ranks).children(relative(position, root, ranks));
  return children > 0 ? children : 1;
}

Step Pass::step(Rank position, std::uint32_t index) const noexcept {
  if (kind == Kind::everybody) {
    const std::uint32_t rounds = doublings_to(ranks);
    Step step;
    if (index < rounds) {
      const auto peer = static_cast<Rank>((std::uint64_t{position} + (std::uint64_t{1} << index)) % ranks);
      step = signalling(peer, static_cast<Counter>(first + index));
    }
    if (index > 0) {
      step.wait_for = static_cast<Counter>(first + index - 1);
      step.wait_until = 1;
    }
    return step;
  }
  const Tree tree = pass_tree(ranks);
  const Rank at = relative(position, root, ranks);
  if (kind == Kind::to_root) {
    Step step;
    if (at != 0) step = signalling(absolute(tree.parent(at), root, ranks), first);
    if (const std::uint32_t children = tree.children(at); children > 0) {
      step.wait_for = first;
      step.wait_until = children;
    }
    return step;
  }
  if (tree.children(at) == 0) return waiting(first, 1);
  Step step = signalling(absolute(tree.child(at, index), root, ranks), first);
  if (at != 0 && index == 0) {
    step.wait_for = first;
    step.wait_until = 1;
  }
  return step;
}

std::uint64_t Pass::messages() const noexcept {
  if (kind == Kind::none || ranks == 1) return 0;
  return kind == Kind::everybody ? std::uint64_t{doublings_to(ranks)} * ranks : ranks - 1;
}

std::uint32_t Pass::depth() const noexcept {
  if (kind == Kind::none || ranks == 1) return 0;
  return kind == Kind::everybody ? doublings_to(ranks) : pass_tree(ranks).depth();
}

}  // namespace aqueduct::coll
