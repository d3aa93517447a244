#include <aqueduct/team.hpp>

#include "coll/barriers.hpp"
#include "coll/exchange.hpp"
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
  std::uint64_t x = parent * 0x9e3779b97f4a7c15u + ((std::uint64_t{split} << 32) | colour);
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;  // the finaliser of SplitMix64
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

}  // namespace

Team::Team(std::unique_ptr<TeamState> state) : state_(std::move(state)) {
  state_->endpoint.barriers->enter(*state_);
}
Team::Team(Team&&) noexcept = default;
Team& Team::operator=(Team&& other) noexcept {
  if (this != &other) {
    if (state_ && coll::barrier_of(*state_) != nullptr) state_->endpoint.barriers->leave(*state_);
    state_ = std::move(other.state_);
  }
  return *this;
}
Team::~Team() {
  if (state_ && coll::barrier_of(*state_) != nullptr) state_->endpoint.barriers->leave(*state_);
}

Rank Team::size() const noexcept { return state_->size(); }
Rank Team::index() const noexcept { return state_->index; }
std::span<const Rank> Team::members() const noexcept { return state_->list(); }
Rank Team::rank_of(Rank index) const noexcept {
  return index < state_->size() ? state_->members[index] : kNoRank;
}
Rank Team::index_of(Rank rank) const noexcept { return state_->find(rank); }

Status Team::notify() noexcept {
  TeamState& team = *state_;
  if (team.endpoint.in_child()) return ErrorCode::invalid_argument;
  if (team.endpoint.polling) return ErrorCode::in_handler;
  if (coll::barrier_of(team)->waiting) return ErrorCode::invalid_argument;
  team.endpoint.barriers->notify(*coll::barrier_of(team));
  return {};
}

bool Team::try_wait() noexcept {
  TeamState& team = *state_;
  if (!coll::barrier_of(team)->waiting || team.endpoint.in_child()) return true;
  if (team.endpoint.barriers->reached(*coll::barrier_of(team))) return true;
  core::progress(team.endpoint);
  return team.endpoint.barriers->reached(*coll::barrier_of(team)) || team.lost_member() != kNoRank;
}

Status Team::wait() noexcept {
  TeamState& team = *state_;
  coll::BarrierState& barrier = *coll::barrier_of(team);
  if (team.endpoint.polling) return ErrorCode::in_handler;
  if (!barrier.waiting) return ErrorCode::invalid_argument;
  coll::Barriers& barriers = *team.endpoint.barriers;
  const auto over = [&] { return barriers.reached(barrier) || team.lost_member() != kNoRank; };
  const Status status = core::wait_until(team.endpoint, over, kNoRank, [&] {
    return fmt::format("phase {} of the barrier of a team of {} ranks (member {}), in which it waits for {}",
                       barrier.phase, team.size(), team.index, barriers.missing(barrier));
  });
  if (!status) return status;
  barrier.waiting = false;
  if (barriers.reached(barrier) && !barrier.too_late) return {};
  return {ErrorCode::peer_lost, team.lost_member()};
}

Status Team::barrier() noexcept {
  if (state_->endpoint.in_continuation) return ErrorCode::in_handler;  // before anything is announced
  if (const Status status = notify(); !status) return status;
  return wait();
}

// Here rather than in core, which knows no barrier.
Status Endpoint::barrier() noexcept { return state_->world->barrier(); }

namespace {

/// A member's arguments of a split.
struct SplitArguments {
  std::uint32_t has_colour;
  std::uint32_t colour;
  std::uint32_t key;
};

/// The members that chose `colour`, as ranks in the new team's order.
Result<std::vector<Rank>> members_of(const TeamState& team, std::uint32_t colour,
                                     std::span<const coll::Blob> all) {
  struct Member {
    std::uint32_t key;
    Rank index;
  };
  std::vector<Member> chosen;
  for (Rank i = 0; i < team.size(); ++i) {
    SplitArguments arguments;
    if (all[i].size() != sizeof arguments) return {ErrorCode::internal, team.members[i]};
    std::memcpy(&arguments, all[i].data(), sizeof arguments);
    if (arguments.has_colour != 0 && arguments.colour == colour) chosen.push_back({arguments.key, i});
  }
  std::stable_sort(chosen.begin(), chosen.end(), [](auto& a, auto& b) { return a.key < b.key; });
  std::vector<Rank> members;
  members.reserve(chosen.size());
  for (const Member& member : chosen) members.push_back(team.members[member.index]);
  return members;
}

}  // namespace

Result<std::optional<Team>> Team::split(std::optional<std::uint32_t> colour, std::uint32_t key) {
  TeamState& team = *state_;
  if (team.endpoint.in_child()) return ErrorCode::invalid_argument;
  if (team.endpoint.must_not_wait()) return ErrorCode::in_handler;
  coll::Exchanges& exchanges = team.endpoint.barriers->exchanges();
  const std::uint32_t number = ++team.splits;
  const SplitArguments mine{colour.has_value(), colour.value_or(0), key};
  const auto all = exchanges.exchange(team, std::as_bytes(std::span(&mine, 1)));
  std::optional<Team> made;
  const auto make = [&]() -> Status {
    try {
      if (!all || !colour) return all.status();
      auto members = members_of(team, *colour, *all);
      if (!members) return members.status();
      made.emplace(std::make_unique<TeamState>(team.endpoint, child_id(team.id, number, *colour),
                                               team::RankMap::of(std::move(*members))));
      return {};
    } catch (const std::bad_alloc&) {
      return ErrorCode::no_memory;
    }
  };
  Status status = make();
  // Either all members get their team or none does. A lost member ends the split for all, without an agreement.
  if (status.code() != ErrorCode::peer_lost) status = exchanges.agree(team, status);
  if (!status) return status;
  return made;
}

}  // namespace aqueduct
