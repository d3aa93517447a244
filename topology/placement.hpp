#pragma once

#include <aqueduct/rank.hpp>

#include "topology/table.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace aqueduct::topology {

/// The members of a team on one host, in an order in which members of a domain stand side by side, at each level. So what
/// an algorithm does with neighbours in this order stays inside domains, whatever order the team has.
///
/// A *label* is a position in this order. Members of one domain keep their order in the team.
class Placement {
 public:
  /// One level at which the members lie in several domains: group g has the labels first[g] to first[g + 1].
  struct Cut {
    std::size_t level = 0;  ///< of the table
    std::vector<std::uint32_t> first;

    std::uint32_t groups() const noexcept { return static_cast<std::uint32_t>(first.size() - 1); }
    std::uint32_t size(std::uint32_t group) const noexcept { return first[group + 1] - first[group]; }
    std::uint32_t group_of(std::uint32_t label) const noexcept;
  };
  /// The domain of a member at a level; kNowhere for a member that floats, as one that is not bound. Such members form a
  /// group of their own inside the group of the level before.
  using DomainOf = std::function<std::uint32_t(Rank member, std::size_t level)>;

  /// `members`: indices, rising. Throws std::bad_alloc.
  static Placement of(std::span<const Rank> members, const std::vector<Level>& levels,
                      const DomainOf& domain_of);

  std::uint32_t size() const noexcept { return static_cast<std::uint32_t>(order_.size()); }
  Rank member(std::uint32_t label) const noexcept { return order_[label]; }
  /// Requires: one of the members.
  std::uint32_t label_of(Rank member) const noexcept;

  /// The levels of memory at which there are several groups, from wide to narrow; of levels that give the same groups
  /// only the first. Not those at which each member is alone.
  const std::vector<Cut>& cuts() const noexcept { return cuts_; }
  /// Whether the order is that of the team.
  bool is_in_order() const noexcept { return order_ == members_; }
  /// The number of groups into which the members fall at the widest cut, and the group of a label; one group without cuts.
  std::uint32_t groups() const noexcept { return cuts_.empty() ? 1 : cuts_.front().groups(); }
  std::uint32_t group_of(std::uint32_t label) const noexcept {
    return cuts_.empty() ? 0 : cuts_.front().group_of(label);
  }
  /// The labels of a group of the widest cut: from, to.
  std::uint32_t group_begin(std::uint32_t group) const noexcept {
    return cuts_.empty() ? 0 : cuts_.front().first[group];
  }
  std::uint32_t group_end(std::uint32_t group) const noexcept {
    return cuts_.empty() ? size() : cuts_.front().first[group + 1];
  }

 private:
  std::vector<Rank> order_;
  std::vector<std::uint32_t> label_;  // by position in the rising list of members
  std::vector<Rank> members_;
  std::vector<Cut> cuts_;
};

}  // namespace aqueduct::topology
