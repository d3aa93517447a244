#include "team/hierarchy.hpp"

#include <map>
#include <utility>

namespace aqueduct::team {

Level::Level(const RankMap& members, const PlaceOf& place_of) : Level(members, place_of, nullptr) {}
Level::Level(const RankMap& members, const PlaceOf& place_of, const Level& above)
    : Level(members, place_of, &above) {}

Level::Level(const RankMap& members, const PlaceOf& place_of, const Level* above) {
  std::map<std::pair<Rank, std::uint32_t>, Rank> known;  // (group above, place): group
  group_of_.reserve(members.size());
  for (Rank index = 0; index < members.size(); ++index) {
    const Rank inside = above != nullptr ? above->group_of(index) : 0;
    const auto [at, is_new] = known.try_emplace({inside, place_of(members[index])}, groups());
    if (is_new) leaders_.push_back(index);
    group_of_.push_back(at->second);
  }
}

RankMap Level::members_of(const RankMap& members, Rank group) const {
  std::vector<Rank> ranks;
  for (Rank index = 0; index < members.size(); ++index) {
    if (group_of_[index] == group) ranks.push_back(members[index]);
  }
  return RankMap::of(std::move(ranks));
}

RankMap Level::leaders(const RankMap& members) const {
  std::vector<Rank> ranks;
  ranks.reserve(leaders_.size());
  for (const Rank index : leaders_) ranks.push_back(members[index]);
  return RankMap::of(std::move(ranks));
}

}  // namespace aqueduct::team
