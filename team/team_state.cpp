#include "team/team_state.hpp"

namespace aqueduct::detail {

TeamState::TeamState(EndpointState& ep, std::uint64_t team, std::vector<Rank> ranks)
    : endpoint(ep), id(team), members(std::move(ranks)) {
  bool is_world = members.size() == ep.ranks;
  for (Rank i = 0; is_world && i < size(); ++i) is_world = members[i] == i;
  if (!is_world) {
    index_of.assign(ep.ranks, kNoRank);
    for (Rank i = 0; i < size(); ++i) index_of[members[i]] = i;
  }
  index = find(ep.rank);
}

Rank TeamState::find(Rank rank) const noexcept {
  if (rank >= endpoint.ranks) return kNoRank;
  return index_of.empty() ? rank : index_of[rank];
}

Rank TeamState::lost_member() const noexcept {
  if (endpoint.lost_count == 0) [[likely]]
    return kNoRank;
  for (Rank member : members) {
    if (endpoint.lost[member]) return member;
  }
  return kNoRank;
}

}  // namespace aqueduct::detail
