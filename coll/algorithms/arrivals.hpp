#pragma once

#include "coll/algorithms/steps.hpp"

#include <algorithm>
#include <cstdint>

namespace aqueduct::coll {

// Counters of what a member waits for from several others. With long blocks each of these has one of its own, so that the
// first block to come is combined while others are on their way, and who is ready early is served early. With short ones all
// have the same, since counters are leased from a few hundred.

constexpr std::uint64_t kLongBlock = 1024;  // chosen: to combine less takes less than a message
constexpr std::uint32_t kMostApart = 16;    // chosen
inline bool have_own_counters(std::uint64_t bytes, std::uint32_t others) noexcept {
  return bytes >= kLongBlock && others <= kMostApart;
}

/// Others that are waited for in a fixed order: children of a tree, whose blocks are combined, or members that tell that
/// they have called.
struct ChildCounters {
  Counter first;
  bool each;
  std::uint32_t count;

  /// `most`: the children that any member has.
  ChildCounters(Counter first_of_all, std::uint32_t most, std::uint64_t bytes) noexcept
      : first(first_of_all), each(have_own_counters(bytes, most)), count(each ? most : 1) {}

  /// Of the one whose turn is the index-th.
  Counter of(std::uint32_t index) const noexcept { return static_cast<Counter>(first + (each ? index : 0)); }
  /// The step of that turn, behind its wait. `children`: as many as this member waits for.
  Step when_arrived(const Step& step, std::uint32_t index, std::uint32_t children) const noexcept {
    if (each) return after(step, of(index), 1);
    return index == 0 ? after(step, first, children) : step;
  }
};

/// Those of a tree, whose largest number of children is asked for only if blocks are long.
template <class AnyTree>
ChildCounters child_counters(Counter first, const AnyTree& tree, std::uint64_t bytes) noexcept {
  return {first, bytes >= kLongBlock ? tree.most_children() : 1, bytes};
}

/// Blocks of all members but the owner, which are combined in the order of positions, the owner's in its turn.
struct MemberCounters {
  Counter first;
  bool each;
  std::uint32_t count;
  std::uint32_t others;

  MemberCounters(Counter first_of_all, Rank ranks, std::uint64_t bytes) noexcept
      : first(first_of_all),
        each(have_own_counters(bytes, ranks - 1)),
        count(each ? ranks - 1 : 1),
        others(ranks - 1) {}

  /// Of a member's block. The first two have one: they are combined with each other.
  Counter of(Rank member) const noexcept {
    return static_cast<Counter>(first + (each ? std::max<Rank>(member, 1) - 1 : 0));
  }
  /// The index-th step that combines, behind its wait: the block of member index + 1 with what came before.
  Step when_arrived(const Step& step, std::uint32_t index, Rank owner) const noexcept {
    if (!each) return index == 0 ? after(step, first, others) : step;
    if (index == 0) return after(step, of(0), owner <= 1 ? 1 : 2);
    return index + 1 == owner ? step : after(step, of(index + 1), 1);
  }
};

}  // namespace aqueduct::coll
