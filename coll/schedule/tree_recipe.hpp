#pragma once

#include "coll/schedule/groups.hpp"
#include "coll/schedule/team_tree.hpp"
#include "coll/schedule/tree.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace aqueduct::coll {

/// A tree by formula whose number of members is not said yet. As text: `4-ary`, `8-nomial`, `flat`, `chain`, and `fork:8x4`
/// for rows of 8 in planes of 4 rows.
struct TreeClass {
  enum class Kind : std::uint8_t { k_ary, k_nomial, flat, chain, fork };
  Kind kind = Kind::k_nomial;
  std::uint32_t radix = 4;  ///< of `k_ary` and `k_nomial`, at least 2
  std::uint32_t row = 1;    ///< of `fork`
  std::uint32_t rows = 1;   ///< likewise

  Tree of(Rank ranks) const noexcept;
  std::string text() const;
  friend bool operator==(const TreeClass&, const TreeClass&) = default;
};

/// How to make the tree of a team, whatever its size.
///
/// `CLASS`                  one tree over all members
/// `CLASS over CLASS`       the members in portions: the second tree in each, the first over the roots of all portions
/// `portion=N`              N members that follow one another in the order; `portion=hosts`: those of a host, which is usual
/// `order=3,1,0,2`          which member stands at each position of the tree, so of 4 members: the first one is the root
/// `order=hosts`            those of a host one after the other
/// `parents=1,-,1,2`        the parent of each member, so of 4 members, and `-` for the root: no class
struct TreeRecipe {
  TreeClass over_all;
  std::optional<TreeClass> in_portions;
  Rank portion = 0;           ///< 0: hosts
  bool by_hosts = false;      ///< order=hosts
  std::vector<Rank> order;    ///< empty: the team's, or by hosts
  std::vector<Rank> parents;  ///< not empty: nothing else counts

  /// The words that it was read from, in the order above; equal recipes have equal words.
  std::string text() const;
  /// Why a team with this number of members has no such tree; empty if it has one.
  std::string refusal(Rank ranks) const;
  /// `hosts`: null, all members are on one. May throw std::bad_alloc. Requires: no refusal.
  TeamTree tree(Rank ranks, const Groups* hosts) const;

  friend bool operator==(const TreeRecipe&, const TreeRecipe&) = default;
};

struct RecipeRead {
  TreeRecipe recipe;
  std::string problem;  ///< empty: it could be read
};
RecipeRead read_tree_recipe(std::string_view text);

}  // namespace aqueduct::coll
