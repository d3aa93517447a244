// What a team says of its members, without a message.

#include <aqueduct/team.hpp>

#include "coll/barriers.hpp"
#include "core/entry.hpp"
#include "team/hierarchy.hpp"
#include "team/rank_list_state.hpp"

#include <new>

namespace aqueduct {

using detail::TeamState;

namespace {

/// `choose(hosts)` of the members in groups by host. It may throw std::bad_alloc.
template <class F>
Result<RankList> members_by_host(TeamState& team, F choose) noexcept try {
  if (coll::barrier_of(team) == nullptr) return ErrorCode::closed;  // its endpoint may be gone
  const core::Entry entry(team.endpoint);
  if (team.endpoint.in_child()) return ErrorCode::invalid_argument;
  const auto& host_of = team.endpoint.host_of;
  const team::Level hosts(team.members, [&](Rank rank) { return host_of[rank]; });
  return team::list_of(choose(hosts));
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
  return members_by_host(team, [&](const team::Level& hosts) {
    return hosts.members_of(team.members, hosts.group_of(team.index));
  });
}

Result<RankList> Team::host_leaders() const noexcept {
  return members_by_host(*state_, [&](const team::Level& hosts) { return hosts.leaders(state_->members); });
}

Status Team::translate(std::span<const Rank> indices, const Team& other,
                       std::span<Rank> into) const noexcept {
  return team::translate(state_->members, indices, other.state_->members, into);
}

Likeness Team::compare(const Team& other) const noexcept {
  return team::compare(state_->members, other.state_->members);
}

}  // namespace aqueduct
