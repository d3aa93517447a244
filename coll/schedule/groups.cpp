#include "coll/schedule/groups.hpp"

#include <algorithm>
#include <unordered_map>

namespace aqueduct::coll {

Groups::Groups(Rank ranks, const std::function<Rank(Rank position)>& host_of)
    : member_(ranks), place_(ranks), group_(ranks) {
  std::unordered_map<Rank, Rank> group_of_host;
  std::vector<Rank> sizes;
  for (Rank position = 0; position < ranks; ++position) {
    const auto [found, is_new] =
        group_of_host.try_emplace(host_of(position), static_cast<Rank>(sizes.size()));
    if (is_new) sizes.push_back(0);
    group_[position] = found->second;
    ++sizes[found->second];
  }
  begin_.push_back(0);
  for (const Rank size : sizes) {
    begin_.push_back(begin_.back() + size);
    most_ = std::max(most_, size);
  }
  std::vector<Rank> next(begin_.begin(), begin_.end() - 1);
  for (Rank position = 0; position < ranks; ++position) {
    const Rank place = next[group_[position]]++;
    place_[position] = place;
    member_[place] = position;
    in_team_order_ = in_team_order_ && place == position;
  }
}

}  // namespace aqueduct::coll
