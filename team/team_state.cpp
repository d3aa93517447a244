#include "team/team_state.hpp"

#include <algorithm>
#include <new>
#include <span>
#include <utility>

namespace aqueduct::detail {

TeamState::TeamState(EndpointState& ep, std::uint64_t team, team::RankMap ranks)
    : endpoint(ep), id(team), members(std::move(ranks)), index(members.find(ep.rank)) {}

std::span<const Rank> TeamState::list() noexcept try {
  if (listed_.empty()) {
    std::vector<Rank> ranks(size());
    for (Rank i = 0; i < size(); ++i) ranks[i] = members[i];
    listed_ = std::move(ranks);
  }
  return listed_;
} catch (const std::bad_alloc&) {
  return {};
}

Rank TeamState::lost_member() const noexcept {
  if (endpoint.lost_count == 0) [[likely]]
    return absent.peer();
  const auto first = std::span(endpoint.first_lost);
  for (const Rank rank : first.first(std::min<std::size_t>(endpoint.lost_count, first.size()))) {
    if (find(rank) != kNoRank) return rank;
  }
  for (Rank i = 0; i < size(); ++i) {
    if (endpoint.lost[members[i]]) return members[i];
  }
  return absent.peer();
}

Status TeamState::loss() const noexcept {
  const Rank rank = lost_member();
  if (rank == kNoRank || rank == absent.peer()) return absent;
  return {ErrorCode::peer_lost, rank};
}

}  // namespace aqueduct::detail
