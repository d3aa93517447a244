#include "coll/schedule/tree_recipe.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace aqueduct::coll {

Tree TreeClass::of(Rank ranks) const noexcept {
  switch (kind) {
    case Kind::k_ary: return {Tree::Kind::k_ary, radix, ranks};
    case Kind::k_nomial: return {Tree::Kind::k_nomial, radix, ranks};
    case Kind::flat: return Tree::flat(ranks);
    case Kind::chain: return {Tree::Kind::k_ary, 1, ranks};
    case Kind::fork: break;
  }
  return Tree::fork(row, rows, ranks);
}

std::string TreeClass::text() const {
  switch (kind) {
    case Kind::k_ary: return fmt::format("{}-ary", radix);
    case Kind::k_nomial: return fmt::format("{}-nomial", radix);
    case Kind::flat: return "flat";
    case Kind::chain: return "chain";
    case Kind::fork: break;
  }
  return fmt::format("fork:{}x{}", row, rows);
}

std::string TreeRecipe::text() const {
  if (!parents.empty()) {
    std::string list;
    for (const Rank parent : parents) {
      if (!list.empty()) list += ',';
      list += parent == kNoRank ? std::string("-") : std::to_string(parent);
    }
    return "parents=" + list;
  }
  std::string out = over_all.text();
  if (in_portions) out += " over " + in_portions->text();
  if (portion != 0) out += fmt::format(" portion={}", portion);
  if (by_hosts) out += " order=hosts";
  if (!order.empty()) out += fmt::format(" order={}", fmt::join(order, ","));
  return out;
}

std::string TreeRecipe::refusal(Rank ranks) const {
  const std::size_t said = parents.empty() ? order.size() : parents.size();
  if (said == 0 || said == ranks) return {};
  return fmt::format("the tree is for {} members, and the team has {}", said, ranks);
}

TeamTree TreeRecipe::tree(Rank ranks, const Groups* hosts) const {
  if (!parents.empty()) return TeamTree(parents);
  const bool portions_are_hosts = in_portions.has_value() && portion == 0;
  std::vector<Rank> at(order);  // [position] of the tree: the member
  for (Rank position = 0; position < ranks && order.empty(); ++position) {
    const bool go_by_hosts = (by_hosts || portions_are_hosts) && hosts != nullptr;
    at.push_back(go_by_hosts ? hosts->member_at(position) : position);
  }
  // Where portions begin, and the end of the last.
  std::vector<Rank> begin{0};
  if (portions_are_hosts && hosts != nullptr) {
    for (Rank group = 0; group < hosts->count(); ++group)
      begin.push_back(hosts->begin(group) + hosts->size(group));
  } else {
    const Rank each = in_portions && portion != 0 ? portion : ranks;
    while (begin.back() < ranks) begin.push_back(ranks - begin.back() > each ? begin.back() + each : ranks);
  }
  std::vector<Rank> parent_of(ranks, kNoRank);
  const auto portions = static_cast<Rank>(begin.size() - 1);
  const Tree upper = over_all.of(portions);
  for (Rank number = 0; number < portions; ++number) {
    const Rank first = begin[number];
    const Rank size = begin[number + 1] - first;
    const Tree lower = in_portions ? in_portions->of(size) : over_all.of(size);
    if (number > 0) parent_of[at[first]] = at[begin[upper.parent(number)]];
    for (Rank i = 1; i < size; ++i) parent_of[at[first + i]] = at[first + lower.parent(i)];
  }
  return TeamTree(parent_of, at);
}

}  // namespace aqueduct::coll
