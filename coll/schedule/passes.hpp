#pragma once

#include "coll/schedule/groups.hpp"
#include "coll/schedule/step.hpp"

#include <bit>
#include <cstdint>

namespace aqueduct::coll {

/// Signals without data, before or after an algorithm's steps.
///
/// everybody  A member goes on when all members have begun the pass: dissemination, radix 2.
///            Cost: ceil(log2 P) rounds, P signals each. Source: Hensgen, Finkel and Manber, 1988.
///            With few signals: up an 8-nomial tree, and down it. Cost: 2 (P - 1) signals.
/// to_root    The root goes on when all members have begun; the others go on at once.
///            Cost: P - 1 signals, up a 4-nomial tree.
/// from_root  Nobody goes on before the root has begun. Cost: P - 1 signals, down the same tree.
///
/// With groups, only the leaders of hosts signal to other hosts (groups_pass.hpp, groups_tree.hpp).
struct Pass {
  enum class Kind : std::uint8_t { none, everybody, to_root, from_root };
  Kind kind = Kind::none;
  Rank ranks = 1;
  Rank root = 0;
  Counter first = 0;  ///< the first of the pass's counters
  const Groups* groups = nullptr;
  bool few_signals = false;

  std::uint32_t counters() const noexcept;
  std::uint32_t length(Rank position) const noexcept;
  Step step(Rank position, std::uint32_t index) const noexcept;
  std::uint64_t messages() const noexcept;
  std::uint32_t depth() const noexcept;
  /// It is for everybody, and goes by a tree: with few signals.
  bool has_root() const noexcept;
  /// It is a dissemination among all members.
  bool is_plain() const noexcept {
    return kind == Kind::everybody && groups == nullptr && !few_signals && ranks > 1;
  }
};

/// The position in a tree rooted at 0, for the member at `position` if `root` is the tree's root; and back.
constexpr Rank relative(Rank position, Rank root, Rank ranks) noexcept {
  return position >= root ? position - root : position + (ranks - root);
}
constexpr Rank absolute(Rank relative, Rank root, Rank ranks) noexcept {
  return relative < ranks - root ? relative + root : relative - (ranks - root);
}
/// ceil(log_radix(ranks)): the number of rounds in which a member can reach all others. Requires: radix >= 2.
constexpr std::uint32_t rounds_of(Rank ranks, std::uint32_t radix) noexcept {
  if (radix == 2) return ranks <= 1 ? 0 : static_cast<std::uint32_t>(std::bit_width(ranks - 1));
  std::uint32_t rounds = 0;
  for (std::uint64_t reached = 1; reached < ranks; reached *= radix) ++rounds;
  return rounds;
}

}  // namespace aqueduct::coll
