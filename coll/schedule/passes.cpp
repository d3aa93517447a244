#include "coll/schedule/passes.hpp"

#include "coll/schedule/groups_pass.hpp"
#include "coll/schedule/groups_tree.hpp"
#include "coll/schedule/rooted_tree.hpp"

#include <algorithm>
#include <bit>

namespace aqueduct::coll {

namespace {

// Chosen: a parent takes few signals at once, and the tree is half as deep as a binomial one.
constexpr std::uint32_t kPassRadix = 4;
// Measured where members share processors: 4 and 8 take the same time.
constexpr std::uint32_t kRadixOfFew = 8;

/// What `use` says of the pass's tree.
template <class Use>
auto with_tree(const Pass& pass, const Use& use) noexcept {
  return pass.groups != nullptr ? use(GroupsTree(*pass.groups, pass.root, kPassRadix))
                                : use(RootedTree({Tree::Kind::k_nomial, kPassRadix, pass.ranks}, pass.root));
}

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

template <class AnyTree>
Step up(const AnyTree& tree, Rank position, Counter counter) noexcept {
  Step step;
  if (!tree.is_root(position)) step = signalling(tree.parent(position), counter);
  if (const std::uint32_t children = tree.children(position); children > 0) {
    step.wait_for = counter;
    step.wait_until = children;
  }
  return step;
}

template <class AnyTree>
Step down(const AnyTree& tree, Rank position, std::uint32_t index, Counter counter) noexcept {
  if (tree.children(position) == 0) return waiting(counter, 1);
  Step step = signalling(tree.child(position, index), counter);
  if (!tree.is_root(position) && index == 0) {
    step.wait_for = counter;
    step.wait_until = 1;
  }
  return step;
}

GroupsPass of_groups(const Pass& pass) noexcept { return {*pass.groups, pass.root, 2, pass.first}; }

RootedTree tree_of_few(const Pass& pass) noexcept {
  return RootedTree({Tree::Kind::k_nomial, kRadixOfFew, pass.ranks}, pass.root);
}

}  // namespace

// Two members have nothing to save.
bool Pass::has_root() const noexcept {
  return few_signals && kind == Kind::everybody && groups == nullptr && ranks > 2;
}

std::uint32_t Pass::counters() const noexcept {
  if (kind == Kind::none || ranks == 1) return 0;
  if (kind != Kind::everybody) return 1;
  if (has_root()) return 2;
  return groups != nullptr ? of_groups(*this).counters() : doublings_to(ranks);
}

std::uint32_t Pass::length(Rank position) const noexcept {
  if (kind == Kind::none || ranks == 1) return 0;
  if (has_root()) return 1 + std::max(tree_of_few(*this).children(position), 1u);
  if (kind == Kind::everybody)
    return groups != nullptr ? of_groups(*this).length(position) : doublings_to(ranks) + 1;
  if (kind == Kind::to_root) return 1;
  // A leaf has a step that only waits.
  return with_tree(*this, [&](const auto& tree) { return std::max(tree.children(position), 1u); });
}

Step Pass::step(Rank position, std::uint32_t index) const noexcept {
  if (has_root()) {
    const RootedTree tree = tree_of_few(*this);
    return index == 0 ? up(tree, position, first)
                      : down(tree, position, index - 1, static_cast<Counter>(first + 1));
  }
  if (kind == Kind::everybody) {
    if (groups != nullptr) return of_groups(*this).step(position, index);
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
  return with_tree(*this, [&](const auto& tree) {
    return kind == Kind::to_root ? up(tree, position, first) : down(tree, position, index, first);
  });
}

std::uint64_t Pass::messages() const noexcept {
  if (kind == Kind::none || ranks == 1) return 0;
  if (kind != Kind::everybody) return ranks - 1;
  if (has_root()) return 2 * (std::uint64_t{ranks} - 1);
  return groups != nullptr ? of_groups(*this).messages() : std::uint64_t{doublings_to(ranks)} * ranks;
}

std::uint32_t Pass::depth() const noexcept {
  if (kind == Kind::none || ranks == 1) return 0;
  if (has_root()) return 2 * tree_of_few(*this).depth();
  if (kind == Kind::everybody) return groups != nullptr ? of_groups(*this).depth() : doublings_to(ranks);
  return with_tree(*this, [](const auto& tree) { return tree.depth(); });
}

}  // namespace aqueduct::coll
