// Teams that all members of a team make together: by colours, by a list, or a second one of all.

#include <aqueduct/team.hpp>

#include "coll/barriers.hpp"
#include "coll/exchange.hpp"
#include "coll/team_terms.hpp"
#include "core/entry.hpp"

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

namespace aqueduct {

using detail::TeamState;

namespace {

/// A member's arguments of a split.
struct SplitArguments {
  std::uint64_t form;  ///< which call it is, and with which list: members that call alike have equal numbers
  std::int64_t key;
  std::uint32_t has_colour;
  std::uint32_t colour;
};

constexpr std::uint64_t kByColours = 0;
constexpr std::uint64_t kSecondTeam = 1;
/// A hash of the list, which is neither of the above, as far as 64 bits can tell.
std::uint64_t form_of_list(const RankList& members) noexcept {
  std::uint64_t form = coll::mixed(0x6c697374, members.size());  // "list"
  for (Rank i = 0; i < members.size(); ++i) form = coll::mixed(form, members.rank_of(i));
  return form;
}

/// The id of a new team: a hash of parent, number of the exchange,
/// and colour. All members compute the same one without a message.
std::uint64_t child_id(std::uint64_t parent, std::uint64_t exchange, std::uint32_t colour) noexcept {
  return coll::mixed(coll::mixed(parent, exchange), colour);
}

/// Whether all members have made this call. All of them find the same, so none of them goes on alone.
Status alike(const TeamState& team, const coll::Contributions& all) noexcept {
  SplitArguments first{};
  for (Rank i = 0; i < team.size(); ++i) {
    // A member that exchanges something else has made another call.
    if (all[i].size() != sizeof(SplitArguments)) return {ErrorCode::mismatch, team.members[i]};
    SplitArguments said{};
    std::memcpy(&said, all[i].data(), sizeof said);
    if (i == 0) first = said;
    if (said.form != first.form) return {ErrorCode::mismatch, team.members[i]};
  }
  return {};
}

/// What all members have passed, by index. May throw std::bad_alloc.
std::vector<SplitArguments> arguments_of(const TeamState& team, const coll::Contributions& all) {
  std::vector<SplitArguments> said(team.size());
  for (Rank i = 0; i < team.size(); ++i) std::memcpy(&said[i], all[i].data(), sizeof said[i]);
  return said;
}

/// The members that chose `colour`, in the order of the new team. May throw std::bad_alloc.
std::vector<Rank> members_of(const TeamState& team, std::uint32_t colour,
                             std::span<const SplitArguments> said) {
  struct Member {
    std::int64_t key;
    Rank rank;
  };
  std::vector<Member> chosen;
  for (Rank i = 0; i < team.size(); ++i) {
    if (said[i].has_colour != 0 && said[i].colour == colour) chosen.push_back({said[i].key, team.members[i]});
  }
  std::stable_sort(chosen.begin(), chosen.end(), [](auto& a, auto& b) { return a.key < b.key; });
  std::vector<Rank> ranks;
  for (const Member& member : chosen) ranks.push_back(member.rank);
  return ranks;
}

/// The collective part of all forms. `wrong`: why this member's arguments cannot be used; it takes part all the same, and
/// all members get the error.
Result<std::optional<Team>> split_team(TeamState& team, const SplitArguments& mine, Status wrong = {}) {
  if (coll::barrier_of(team) == nullptr) return ErrorCode::closed;
  const core::Entry entry(team.endpoint);
  if (team.endpoint.in_child()) return ErrorCode::invalid_argument;
  if (team.endpoint.must_not_wait()) return ErrorCode::in_handler;
  coll::Exchanges& exchanges = team.endpoint.barriers->exchanges();
  const auto all = exchanges.exchange(team, coll::SetUp::team, std::as_bytes(std::span(&mine, 1)), wrong);
  const std::uint64_t number = coll::barrier_of(team)->exchanges;
  if (all) {
    if (const Status status = alike(team, *all); !status) return status;
  }
  std::optional<Team> made;
  coll::TeamTerms terms;
  const auto make = [&]() -> Status {
    try {
      if (!all || mine.has_colour == 0) return all.status();
      const auto said = arguments_of(team, *all);
      made.emplace(std::make_unique<TeamState>(team.endpoint, child_id(team.id, number, mine.colour),
                                               team::RankMap::of(members_of(team, mine.colour, said))));
      terms = coll::prepare_team(made->state());
      return {};
    } catch (const std::bad_alloc&) {
      return ErrorCode::no_memory;
    }
  };
  const Status here = make();
  const Status status = coll::settle_team(made ? &made->state() : nullptr, team,
                                          coll::barrier_of(team)->exchanges, terms, here);
  if (!status) return status;
  return made;
}

}  // namespace

Result<std::optional<Team>> Team::split(std::optional<std::uint32_t> colour, std::int64_t key) {
  return split_team(*state_, {kByColours, key, colour.has_value(), colour.value_or(0)});
}

Result<std::optional<Team>> Team::split(const RankList& members) {
  TeamState& team = *state_;
  // A list without a stranger is not longer than the team. So this ends soon, however long the list is.
  for (Rank i = 0; i < members.size(); ++i) {
    const Rank rank = members.rank_of(i);
    if (team.find(rank) == kNoRank) return split_team(team, {}, {ErrorCode::invalid_argument, rank});
  }
  const Rank place = members.index_of(team.members[team.index]);
  return split_team(team, {form_of_list(members), place, place != kNoRank, 0});
}

Result<Team> Team::dup() {
  auto made = split_team(*state_, {kSecondTeam, std::int64_t{state_->index}, 1, 0});
  if (!made) return made.status();
  return std::move(**made);
}

}  // namespace aqueduct
