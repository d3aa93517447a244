// Teams that their members make alone, and the end of a team on all members.

#include <aqueduct/team.hpp>

#include "coll/barriers.hpp"
#include "coll/exchange.hpp"
#include "coll/team_terms.hpp"
#include "core/entry.hpp"
#include "team/rank_list_state.hpp"

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

namespace aqueduct {

using detail::EndpointState;
using detail::TeamState;

namespace {

/// What a member of a new team tells the others.
struct TeamProposal {
  std::uint64_t order;   ///< a hash of the ranks in the order that it was given
  std::uint64_t serial;  ///< that this member has never proposed before
};

/// The ranks in rising order, or what is wrong with the list. All members that give the same list get the same error.
Result<std::vector<Rank>> sorted_members(EndpointState& state, std::span<const Rank> members) {
  if (members.empty()) {
    state.log.error("Team::create: the list of members is empty");
    return ErrorCode::invalid_argument;
  }
  for (const Rank rank : members) {
    if (rank < state.ranks) continue;
    state.log.error("Team::create: the list names rank {}, and the job has the ranks 0 to {}", rank,
                    state.ranks - 1);
    return {ErrorCode::out_of_range, rank};
  }
  std::vector<Rank> sorted(members.begin(), members.end());
  std::sort(sorted.begin(), sorted.end());
  const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
  if (twice != sorted.end()) {
    state.log.error("Team::create: the list names rank {} twice", *twice);
    return {ErrorCode::invalid_argument, *twice};
  }
  if (!std::binary_search(sorted.begin(), sorted.end(), state.rank)) {
    state.log.error("Team::create: the list lacks this rank: only its members call");
    return {ErrorCode::invalid_argument, state.rank};
  }
  return sorted;
}

std::uint64_t hash_of(std::span<const Rank> ranks) noexcept {
  std::uint64_t hash = ranks.size();
  for (const Rank rank : ranks) hash = coll::mixed(hash, rank);
  return hash;
}

// Stands between the name and the serial of an id. Otherwise the id of the team of ranks 0 and 1 with serial 2 would be the
// name of ranks 0, 1 and 2, under which these exchange before they have a team.
constexpr std::uint64_t kMade = 0x6d616465;  // "made"

/// The id of the team, if all members have said the same order. The first member never proposes a serial twice, so no two
/// teams of a name have the same id, and no late packet of a team that has ended fits another team.
Result<std::uint64_t> agreed_id(const TeamState& namesake, const coll::Contributions& all) noexcept {
  std::uint64_t id = 0;
  std::uint64_t order = 0;
  for (Rank i = 0; i < namesake.size(); ++i) {
    TeamProposal said;
    if (all[i].size() != sizeof said) return {ErrorCode::internal, namesake.members[i]};
    std::memcpy(&said, all[i].data(), sizeof said);
    if (i == 0) {
      id = coll::mixed(coll::mixed(namesake.id, kMade), said.serial);
      order = said.order;
    }
    if (said.order != order) return {ErrorCode::invalid_argument, namesake.members[i]};
  }
  return id;
}

/// Ends the use of a name unless the team was made.
struct NameUse {
  coll::TeamNames& names;
  std::uint64_t name;
  Status outcome = ErrorCode::no_memory;

  ~NameUse() {
    // A team with a lost rank is never made again, so the count is not needed.
    if (outcome.code() == ErrorCode::peer_lost) {
      names.forget(name);
    } else if (!outcome) {
      names.close(name);
    }
  }
};

}  // namespace

Result<Team> Team::create(Endpoint& ep, std::span<const Rank> members, std::uint64_t tag) try {
  EndpointState& state = ep.state();
  const core::Entry entry(state);
  if (state.in_child()) return ErrorCode::invalid_argument;
  if (state.must_not_wait()) return ErrorCode::in_handler;
  auto sorted = sorted_members(state, members);
  if (!sorted) return sorted.status();
  coll::Barriers& barriers = *state.barriers;
  const std::uint64_t name = coll::TeamNames::of(tag, *sorted);
  std::uint64_t* const exchanges = barriers.names().open(name);
  if (exchanges == nullptr) {
    state.log.error(
        "Team::create: this rank has a team of these ranks with tag {} already: end it, or take another tag",
        tag);
    return ErrorCode::invalid_argument;
  }
  NameUse use{barriers.names(), name};

  // Has no barrier and is no team yet: it names the ranks that exchange.
  TeamState namesake(state, name, team::RankMap::of(std::move(*sorted)));
  namesake.name = name;
  namesake.tag = tag;
  if (const Rank lost = namesake.lost_member(); lost != kNoRank)
    return use.outcome = {ErrorCode::peer_lost, lost};
  const TeamProposal mine{hash_of(members), barriers.names().next_serial()};
  const auto all = barriers.exchanges().exchange(namesake, *exchanges, std::as_bytes(std::span(&mine, 1)));
  std::optional<Team> made;
  coll::TeamTerms terms;
  const auto make = [&]() -> Status {
    try {
      if (!all) return all.status();
      const auto id = agreed_id(namesake, *all);
      if (!id) return id.status();
      auto team =
          std::make_unique<TeamState>(state, *id, team::RankMap::of({members.begin(), members.end()}));
      team->tag = tag;
      made.emplace(std::move(team));
      terms = coll::prepare_team(made->state());
      return {};
    } catch (const std::bad_alloc&) {
      return ErrorCode::no_memory;
    }
  };
  const Status here = make();
  use.outcome = coll::settle_team(made ? &made->state() : nullptr, namesake, *exchanges, terms, here);
  if (!use.outcome) return use.outcome;
  made->state().name = name;  // from here on the team holds the name
  return std::move(*made);
} catch (const std::bad_alloc&) {
  return ErrorCode::no_memory;
}

Result<Team> Team::create(Endpoint& ep, const RankList& members, std::uint64_t tag) try {
  const Rank ranks = ep.state().ranks;
  // A list that is too long may be a range of very many ranks, too many for a vector.
  for (Rank i = 0; members.size() > ranks && i < members.size(); ++i) {
    if (const Rank rank = members.rank_of(i); rank >= ranks) return {ErrorCode::out_of_range, rank};
  }
  return create(ep, std::span<const Rank>(team::ranks_in(members)), tag);
} catch (const std::bad_alloc&) {
  return ErrorCode::no_memory;
}

Status Team::end() noexcept {
  if (!state_ || coll::barrier_of(*state_) == nullptr) return ErrorCode::closed;
  TeamState& team = *state_;
  EndpointState& state = team.endpoint;
  const core::Entry entry(state);
  if (state.in_child()) return ErrorCode::invalid_argument;
  if (state.must_not_wait()) return ErrorCode::in_handler;
  const coll::BarrierState& barrier = *coll::barrier_of(team);
  if (&state.world->state() == &team || barrier.waiting || barrier.in_flight() != 0)
    return ErrorCode::invalid_argument;
  auto* const collectives = state.layer<coll::Collectives>();
  const Status drained = collectives->drain(team);
  // If the team is broken, this member may not know that all it has sent has arrived. It may then still arrive at the places
  // of the others, who must not use them for another team.
  const bool well = drained.ok() && collectives->idle(team);
  const Status agreed = state.barriers->agree_to_end(team, well);
  const bool together = agreed.ok() || agreed.code() == ErrorCode::mismatch;
  coll::leave_collectives(team, well && agreed.ok());
  state.barriers->leave(team, together);
  return together ? drained : agreed;
}

}  // namespace aqueduct
