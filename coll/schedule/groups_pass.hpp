#pragma once

#include "coll/schedule/dissemination.hpp"
#include "coll/schedule/groups.hpp"
#include "coll/schedule/step.hpp"

#include <cstdint>

namespace aqueduct::coll {

/// Signals after which each member knows that all have begun, between hosts among leaders only: the members of a host
/// report to their leader, leaders disseminate, and release their members. The root of the operation leads its host.
///
/// Cost: 2 (P - G) signals on hosts, those of a dissemination of G between them.
class GroupsPass {
 public:
  /// `first`: the first of its counters. Requires: `groups` outlives it; radix >= 2.
  GroupsPass(const Groups& groups, Rank root, std::uint32_t radix, Counter first) noexcept
      : groups_(groups), root_(root), leaders_{groups.count(), radix}, first_(first) {}

  std::uint32_t counters() const noexcept { return 2 + leaders_.rounds(); }
  std::uint32_t length(Rank position) const noexcept;
  Step step(Rank position, std::uint32_t index) const noexcept;
  std::uint64_t messages() const noexcept;
  /// The longest chain of messages; shorter if a host has one member.
  std::uint32_t depth() const noexcept { return leaders_.rounds() + 2; }

 private:
  Counter reports() const noexcept { return first_; }
  Counter release() const noexcept { return static_cast<Counter>(first_ + 1); }
  Counter arrived(std::uint32_t round) const noexcept { return static_cast<Counter>(first_ + 2 + round); }
  Rank leader_of(Rank group) const noexcept {
    return group == groups_.group_of(root_) ? root_ : groups_.leader_of(group);
  }
  Step leaders_step(Rank group, std::uint32_t index) const noexcept;

  const Groups& groups_;
  Rank root_;
  Dissemination leaders_;
  Counter first_;
};

}  // namespace aqueduct::coll
