#include <aqueduct/team.hpp>

#include "coll/barriers.hpp"
#include "coll/engine/pending_offer.hpp"
#include "coll/may_call.hpp"
#include "coll/wait_for_call.hpp"
#include "core/backoff.hpp"
#include "core/entry.hpp"
#include "core/refuse.hpp"
#include "core/wait.hpp"

namespace aqueduct {

using detail::TeamState;

namespace {

/// Why Team::wait cannot wait. Apart: wait has many variables, and this would take a register of theirs.
[[gnu::cold, gnu::noinline]] Status refuse_wait(detail::EndpointState& state) noexcept {
  if (state.polling) return ErrorCode::in_handler;
  return core::refuse_order(state, "Team::wait: no barrier of a notify is under way");
}

/// The first half of a split-phase barrier, with this rank's vote.
Status announce(TeamState& team, core::BarrierVote vote) noexcept {
  coll::BarrierState* const barrier = coll::barrier_of(team);
  if (barrier == nullptr) return ErrorCode::closed;
  const core::Entry entry(team.endpoint);
  if (team.endpoint.in_child()) return ErrorCode::invalid_argument;
  if (team.endpoint.polling) return ErrorCode::in_handler;
  if (barrier->waiting) [[unlikely]]
    return core::refuse_order(
        team.endpoint,
        "Team::notify or barrier: the barrier of an earlier notify has not been waited for. "
        "Call Team::wait first, or begin several barriers by barrier_nb");
  if (!barrier->has_room()) return ErrorCode::refused;
  barrier->waiting = true;
  barrier->split_over = false;
  const Status status = team.endpoint.barriers->ask(*barrier, vote, nullptr);
  if (!status) barrier->waiting = false;
  return status;
}

// Chosen: more than a barrier needs while all ranks call it. Messages are not answered meanwhile.
constexpr int kMostTurns = 8;
// Chosen: so many barriers that end in this way make a round of progress. A longer wait makes several.
constexpr std::uint64_t kBarriersOfAProgress = 8;

/// For a barrier that the conduit carries out, where ranks share processors: it cannot end before the others have run, so this rank
/// yields to them, a few times, and makes no progress between, which would take time that they need.
[[gnu::noinline]] void let_others_run(detail::EndpointState& state, coll::BarrierState& barrier) noexcept {
  core::Backoff backoff(state.pacing, state.clock);
  for (int turns = 0; !state.barriers->split_over(barrier); ++turns) {
    if (turns == kMostTurns) return;
    if (backoff.next(state.pacing.spins, true) == core::Backoff::Step::sleep) return;
  }
  if (barrier.phase % kBarriersOfAProgress == 0) core::progress(state);
}

/// Both halves of a barrier.
Status barrier_with(Team& team, TeamState& state, core::BarrierVote vote) noexcept {
  coll::BarrierState* const barrier = coll::barrier_of(state);
  if (barrier == nullptr) return ErrorCode::closed;  // its endpoint may be gone
  // Like an earlier one, on the team's board.
  if (barrier->native == nullptr && coll::may_wait_at_once(state.endpoint) &&
      coll::Barriers::may_call_at_once(*barrier)) {
    if (state.endpoint.barriers->call_at_once(*barrier, vote)) [[likely]]
      return barrier->split_outcome;
    return team.wait();
  }
  const core::Entry entry(state.endpoint);
  if (state.endpoint.in_continuation) return ErrorCode::in_handler;  // before anything is announced
  if (barrier->native == nullptr && !state.endpoint.must_not_wait())
    coll::wait_while_in_doubt(state, std::chrono::nanoseconds::max());
  if (const Status status = announce(state, vote); !status) return status;
  const bool crowded = state.endpoint.pacing.fewest < core::Pacing::kFewestWithCores;
  if (crowded && barrier->native != nullptr && state.endpoint.is_plain()) [[unlikely]]
    let_others_run(state.endpoint, *barrier);
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

Status Team::disagree() noexcept { return announce(*state_, core::BarrierVote::disagreement()); }

std::optional<std::uint32_t> Team::agreed() const noexcept {
  coll::BarrierState* const barrier = coll::barrier_of(*state_);
  if (barrier == nullptr) return std::nullopt;
  const core::Entry entry(state_->endpoint);
  // Of a barrier that a loss has ended this rank may know its own value alone.
  return barrier->split_outcome ? coll::Barriers::votes_of_last(*barrier).value() : std::nullopt;
}

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
  if (team.endpoint.polling || !barrier.waiting) [[unlikely]]
    return refuse_wait(team.endpoint);
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

}  // namespace aqueduct
