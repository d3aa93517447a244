// What a team says of its members, without a message.

#include <aqueduct/team.hpp>

#include "coll/barriers.hpp"
#include "core/entry.hpp"
#include "team/rank_list_state.hpp"

#include <new>
#include <set>
#include <utility>
#include <vector>

namespace aqueduct {

using detail::TeamState;

namespace {

/// The members of which `is_wanted(host of the member)` is true, asked in team order. It may throw std::bad_alloc.
template <class F>
Result<RankList> members_by_host(TeamState& team, F is_wanted) noexcept try {
  if (coll::barrier_of(team) == nullptr) return ErrorCode::closed;  // its endpoint may be gone
  const core::Entry entry(team.endpoint);
  if (team.endpoint.in_child()) return ErrorCode::invalid_argument;
  std::vector<Rank> wanted;
  for (Rank i = 0; i < team.size(); ++i) {
    const Rank rank = team.members[i];
    if (is_wanted(team.endpoint.host_of[rank])) wanted.push_back(rank);
  }
  return team::list_of(team::RankMap::of(std::move(wanted)));
} catch (const std::bad_alloc&) {
  return ErrorCode::no_memory;
}

}  // namespace

Result<RankList> Team::rank_list() const noexcept try {
  return team::list_of(state_->members);
} catch (const std::bad_alloc&) {
  return ErrorCode::no_memory;
}

Result<RankList> Team::on_my_host() const noexcept {
  TeamState& team = *state_;
  return members_by_host(
      team, [&](std::uint32_t host) { return host == team.endpoint.host_of[team.endpoint.rank]; });
}

Result<RankList> Team::host_leaders() const noexcept {
  std::set<std::uint32_t> seen;
  return members_by_host(*state_, [&](std::uint32_t host) { return seen.insert(host).second; });
}

Status Team::translate(std::span<const Rank> indices, const Team& other,
                       std::span<Rank> into) const noexcept {
  return team::translate(state_->members, indices, other.state_->members, into);
}

Likeness Team::compare(const Team& other) const noexcept {
  return team::compare(state_->members, other.state_->members);
}

}  // namespace aqueduct
