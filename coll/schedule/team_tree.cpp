#include "coll/schedule/team_tree.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace aqueduct::coll {

// Every member is followed to the root. Members whose way is known are marked, so each is passed once or twice.
std::string TeamTree::objection(std::span<const Rank> parents) {
  Rank root = kNoRank;
  for (Rank member = 0; member < parents.size(); ++member) {
    const Rank parent = parents[member];
    if (parent == kNoRank) {
      if (root != kNoRank)
        return fmt::format("there are several roots: {} and {} have no parent", root, member);
      root = member;
    } else if (parent >= parents.size()) {
      return fmt::format("the parent of {} is {}, which is none of the {} members", member, parent,
                         parents.size());
    }
  }
  if (root == kNoRank) return "there is no root: every member has a parent";
  constexpr Rank kReachesRoot = 0;
  std::vector<Rank> seen(parents.size(),
                         kNoRank);  // else 0, or 1 + the member from which it was first passed
  seen[root] = kReachesRoot;
  for (Rank member = 0; member < parents.size(); ++member) {
    Rank at = member;
    for (; seen[at] == kNoRank; at = parents[at]) seen[at] = member + 1;
    if (seen[at] == member + 1) return fmt::format("{} is its own ancestor", at);
    for (Rank again = member; seen[again] != kReachesRoot; again = parents[again]) seen[again] = kReachesRoot;
  }
  return {};
}

TeamTree::TeamTree(std::span<const Rank> parents, std::span<const Rank> order)
    : parent_(parents.begin(), parents.end()),
      children_(parents.size() - 1),
      first_child_(parents.size() + 1),
      subtree_(parents.size(), 1),
      place_(parents.size()),
      member_(parents.size()) {
  const auto count = static_cast<Rank>(parents.size());
  while (parent_[root_] != kNoRank) ++root_;
  // Children, those of each in the given order. `first_child_` first stands one further on.
  for (const Rank parent : parents) {
    if (parent != kNoRank) ++first_child_[parent + 1];
  }
  std::partial_sum(first_child_.begin(), first_child_.end(), first_child_.begin());
  std::vector<Rank> next(first_child_.begin(), first_child_.end() - 1);
  for (Rank i = 0; i < count; ++i) {
    const Rank from_root = root_ + i < count ? root_ + i : root_ + i - count;
    const Rank member = order.empty() ? from_root : order[i];
    if (member != root_) children_[next[parent_[member]]++] = member;
  }
  // From the root on, a member before all below it. A stack of those that are still to be visited.
  std::vector<Rank> visited;
  visited.reserve(count);
  std::vector<Rank> waiting{root_};
  std::vector<std::uint32_t> depths(count);
  while (!waiting.empty()) {
    const Rank member = waiting.back();
    waiting.pop_back();
    visited.push_back(member);
    const std::span<const Rank> below = children(member);
    for (const Rank child : below) depths[child] = depths[member] + 1;
    depth_ = std::max(depth_, depths[member]);
    most_neighbours_ =
        std::max(most_neighbours_, static_cast<std::uint32_t>(below.size()) + (member == root_ ? 0 : 1));
    waiting.insert(waiting.end(), below.rbegin(), below.rend());
  }
  for (Rank i = count - 1; i > 0; --i) subtree_[parent_[visited[i]]] += subtree_[visited[i]];
  // The ring is turned until member 0 has place 0.
  const auto zero = std::find(visited.begin(), visited.end(), Rank{0});
  std::rotate_copy(visited.begin(), zero, visited.end(), member_.begin());
  for (Rank place = 0; place < count; ++place) {
    place_[member_[place]] = place;
    if (place == 0 || member_[place] != member_[place - 1] + 1) run_begin_.push_back(place);
  }
  run_begin_.push_back(count);
}

std::uint32_t TeamTree::depth_of(Rank member) const noexcept {
  std::uint32_t edges = 0;
  for (; member != root_; member = parent_[member]) ++edges;
  return edges;
}

std::uint32_t TeamTree::run_of(Rank place) const noexcept {
  const auto behind = std::upper_bound(run_begin_.begin(), run_begin_.end(), place);
  return static_cast<std::uint32_t>(behind - run_begin_.begin()) - 1;
}

std::uint32_t RootedTeamTree::slot_with(Rank member, Rank below) const noexcept {
  const Rank from = tree_.place_of(member);
  const Rank wanted = behind(from, tree_.place_of(below));
  const std::span<const Rank> children = tree_.children(member);
  const auto beyond = std::upper_bound(children.begin(), children.end(), wanted, [&](Rank place, Rank child) {
    return place < behind(from, tree_.place_of(child));
  });
  return static_cast<std::uint32_t>(beyond - children.begin()) - 1;
}

Rank RootedTeamTree::parent(Rank member) const noexcept {
  return leads_to_root(member) ? tree_.children(member)[way_to_root(member)] : tree_.parent(member);
}

// A member on the way from the tree's root to the operation's has its parent as a child, and one child as its parent.
std::uint32_t RootedTeamTree::children(Rank member) const noexcept {
  const auto below = static_cast<std::uint32_t>(tree_.children(member).size());
  if (!leads_to_root(member)) return below;
  return below + (member == tree_.root() ? 0 : 1) - (member == root_ ? 0 : 1);
}

Rank RootedTeamTree::child(Rank member, std::uint32_t index) const noexcept {
  const std::span<const Rank> below = tree_.children(member);
  if (!leads_to_root(member)) return below[below.size() - 1 - index];
  if (member != tree_.root()) {
    if (index == 0) return tree_.parent(member);
    --index;
  }
  std::size_t slot = below.size() - 1 - index;
  // The child that is the parent now is passed over.
  if (member != root_ && slot <= way_to_root(member)) --slot;
  return below[slot];
}

std::uint32_t RootedTeamTree::index_of(Rank member) const noexcept {
  if (leads_to_root(member)) return 0;
  const Rank above = tree_.parent(member);
  const std::uint32_t slot = slot_with(above, member);
  std::uint32_t index = static_cast<std::uint32_t>(tree_.children(above).size()) - 1 - slot;
  if (!leads_to_root(above)) return index;
  if (above != tree_.root()) ++index;
  if (above != root_ && way_to_root(above) > slot) --index;
  return index;
}

std::uint32_t RootedTeamTree::child_toward(Rank member) const noexcept {
  const bool is_below = behind(tree_.place_of(root_), tree_.place_of(member)) < tree_.subtree(root_);
  if (!is_below) return 0;  // up the tree
  const std::uint32_t index =
      static_cast<std::uint32_t>(tree_.children(root_).size()) - 1 - slot_with(root_, member);
  return root_ == tree_.root() ? index : index + 1;
}

Rank RootedTeamTree::subtree(Rank member) const noexcept {
  if (member == root_) return tree_.ranks();
  return leads_to_root(member) ? tree_.ranks() - tree_.subtree(parent(member)) : tree_.subtree(member);
}

Rank RootedTeamTree::begin(Rank member) const noexcept {
  if (member == root_ || !leads_to_root(member)) return tree_.place_of(member);
  const Rank above = parent(member);
  const Rank end = tree_.place_of(above) + tree_.subtree(above);
  return end < tree_.ranks() ? end : end - tree_.ranks();
}

}  // namespace aqueduct::coll
