#include <aqueduct/team.hpp>

#include "coll/barriers.hpp"
#include "coll/exchange.hpp"
#include "coll/team_terms.hpp"
#include "core/entry.hpp"
#include "core/wait.hpp"

#include <algorithm>
#include <cstring>
#include <new>

namespace aqueduct {

using detail::TeamState;

namespace {

/// The id of a new team: a hash of parent, number of the split,
/// and colour. All members compute the same one without a message.
std::uint64_t child_id(std::uint64_t parent, std::uint32_t split, std::uint32_t colour) noexcept {
  return coll::mixed(parent, std::uint64_t{split} << 32 | colour);
}

/// The first half of a split-phase barrier, with this rank's vote.
Status announce(TeamState& team, core::BarrierVote vote) noexcept {
  coll::BarrierState* const barrier = coll::barrier_of(team);
  if (barrier == nullptr) return ErrorCode::closed;
  const core::Entry entry(team.endpoint);
  if (team.endpoint.in_child()) return ErrorCode::invalid_argument;
  if (team.endpoint.polling) return ErrorCode::in_handler;
  if (barrier->waiting) return ErrorCode::invalid_argument;
  if (!barrier->has_room()) return ErrorCode::refused;
  barrier->waiting = true;
  barrier->split_over = false;
  const Status status = team.endpoint.barriers->ask(*barrier, vote, nullptr);
  if (!status) barrier->waiting = false;
  return status;
}

/// Both halves of a barrier.
Status barrier_with(Team& team, TeamState& state, core::BarrierVote vote) noexcept {
  if (coll::barrier_of(state) == nullptr) return ErrorCode::closed;  // its endpoint may be gone
  const core::Entry entry(state.endpoint);
  if (state.endpoint.in_continuation) return ErrorCode::in_handler;  // before anything is announced
  if (const Status status = announce(state, vote); !status) return status;
  return team.wait();
}

/// Ends what layers have for a team. A Team may outlive its job; it then has no barrier, and its endpoint is not used.
void leave_layers(TeamState* team) noexcept {
  if (team == nullptr || coll::barrier_of(*team) == nullptr) return;
  core::Entry entry(team->endpoint);
  coll::leave_collectives(*team, /*together=*/false);
  team->endpoint.barriers->leave(*team);
}

}  // namespace

Team::Team(std::unique_ptr<TeamState> state) : state_(std::move(state)) {
  core::Entry entry(state_->endpoint);
  state_->endpoint.barriers->enter(*state_);
}
Team::Team(Team&&) noexcept = default;
Team& Team::operator=(Team&& other) noexcept {
  if (this != &other) {
    leave_layers(state_.get());
    state_ = std::move(other.state_);
  }
  return *this;
}
Team::~Team() { leave_layers(state_.get()); }

Rank Team::size() const noexcept { return state_->size(); }
Rank Team::index() const noexcept { return state_->index; }
std::span<const Rank> Team::members() const noexcept {
  if (coll::barrier_of(*state_) == nullptr) return state_->list();  // its job has ended
  core::Entry entry(state_->endpoint);                              // the first call makes the list
  return state_->list();
}
Rank Team::rank_of(Rank index) const noexcept {
  return index < state_->size() ? state_->members[index] : kNoRank;
}
Rank Team::index_of(Rank rank) const noexcept { return state_->find(rank); }

Status Team::notify() noexcept { return announce(*state_, {}); }
Status Team::notify(std::uint32_t value) noexcept { return announce(*state_, core::BarrierVote(value)); }

bool Team::try_wait() noexcept {
  TeamState& team = *state_;
  coll::BarrierState* const barrier = coll::barrier_of(team);
  if (barrier == nullptr) return true;
  const core::Entry entry(team.endpoint);
  if (!barrier->waiting || team.endpoint.in_child()) return true;
  if (team.endpoint.barriers->split_over(*barrier)) return true;
  core::progress(team.endpoint);
  return team.endpoint.barriers->split_over(*barrier);
}

Status Team::wait() noexcept {
  TeamState& team = *state_;
  if (coll::barrier_of(team) == nullptr) return ErrorCode::closed;
  const core::Entry entry(team.endpoint);
  coll::BarrierState& barrier = *coll::barrier_of(team);
  if (team.endpoint.polling) return ErrorCode::in_handler;
  if (!barrier.waiting) return ErrorCode::invalid_argument;
  coll::Barriers& barriers = *team.endpoint.barriers;
  const auto over = [&] { return barriers.split_over(barrier); };
  const Status status =
      core::wait_until(team.endpoint, over, kNoRank, [&] { return barriers.describe_split(barrier); });
  if (!status) return status;
  barrier.waiting = false;
  return barrier.split_outcome;
}

Status Team::barrier() noexcept { return barrier_with(*this, *state_, {}); }
Status Team::barrier(std::uint32_t value) noexcept {
  return barrier_with(*this, *state_, core::BarrierVote(value));
}

// Here rather than in core, which knows no barrier.
Status Endpoint::barrier() noexcept { return state_->world->barrier(); }

namespace {

/// A member's arguments of a split.
struct SplitArguments {
  std::uint32_t has_colour;
  std::uint32_t colour;
  std::int64_t key;
};

/// The members that chose `colour`, in the order of the new team. May throw std::bad_alloc.
Result<std::vector<Rank>> members_of(const TeamState& team, std::uint32_t colour,
                                     std::span<const coll::Blob> all) {
  struct Member {
    std::int64_t key;
    Rank rank;
  };
  std::vector<Member> chosen;
  for (Rank i = 0; i < team.size(); ++i) {
    SplitArguments arguments;
    if (all[i].size() != sizeof arguments) return {ErrorCode::internal, team.members[i]};
    std::memcpy(&arguments, all[i].data(), sizeof arguments);
    if (arguments.has_colour != 0 && arguments.colour == colour)
      chosen.push_back({arguments.key, team.members[i]});
  }
  std::stable_sort(chosen.begin(), chosen.end(), [](auto& a, auto& b) { return a.key < b.key; });
  std::vector<Rank> ranks;
  for (const Member& member : chosen) ranks.push_back(member.rank);
  return ranks;
}

}  // namespace

Result<std::optional<Team>> Team::split(std::optional<std::uint32_t> colour, std::int64_t key) {
  TeamState& team = *state_;
  if (coll::barrier_of(team) == nullptr) return ErrorCode::closed;
  const core::Entry entry(team.endpoint);
  if (team.endpoint.in_child()) return ErrorCode::invalid_argument;
  if (team.endpoint.must_not_wait()) return ErrorCode::in_handler;
  coll::Exchanges& exchanges = team.endpoint.barriers->exchanges();
  const std::uint32_t number = ++team.splits;
  const SplitArguments mine{colour.has_value(), colour.value_or(0), key};
  const auto all = exchanges.exchange(team, std::as_bytes(std::span(&mine, 1)));
  std::optional<Team> made;
  coll::TeamTerms terms;
  const auto make = [&]() -> Status {
    try {
      if (!all || !colour) return all.status();
      auto members = members_of(team, *colour, *all);
      if (!members) return members.status();
      made.emplace(std::make_unique<TeamState>(team.endpoint, child_id(team.id, number, *colour),
                                               team::RankMap::of(std::move(*members))));
      terms = coll::prepare_team(made->state());
      return {};
    } catch (const std::bad_alloc&) {
      return ErrorCode::no_memory;
    }
  };
  const Status here = make();
  Status status = here;
  // Either all members get their team or none does. A lost member ends the split for all, without an agreement.
  if (status.code() != ErrorCode::peer_lost) {
    const auto agreed = exchanges.exchange(team, std::as_bytes(std::span(&terms, 1)), status);
    status = agreed.status();
    if (status && made) status = coll::settle_team(made->state(), team, *agreed);
  }
  if (!status && status.code() != ErrorCode::peer_lost) {
    if (made) {
      // A member that has told all of its own failure knows that nobody has the team. A failure of the agreement itself
      // may be known to some members only: others may have the team, and write to this one's places.
      const bool nobody = !here;
      coll::leave_collectives(made->state(), nobody);
      team.endpoint.barriers->leave(made->state(), nobody);
    }
  }
  if (!status) return status;
  return made;
}

}  // namespace aqueduct
