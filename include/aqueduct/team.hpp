#pragma once

#include <aqueduct/endpoint.hpp>

#include <memory>
#include <optional>
#include <span>

namespace aqueduct {

namespace detail {
struct TeamState;
}

/// Ranks in an order: who takes part in a barrier or a collective.
///
/// Threads: belongs to its endpoint, and to the same thread.
class Team {
 public:
  Team(Team&&) noexcept;
  Team& operator=(Team&&) noexcept;
  ~Team();

  /// How many members; my index among them; the members' ranks in team order, listed at the first call (empty where there
  /// is no memory for the list: `rank_of` needs none).
  Rank size() const noexcept;
  Rank index() const noexcept;
  std::span<const Rank> members() const noexcept;
  /// A member's rank in the job; kNoRank if the index is outside the team.
  Rank rank_of(Rank index) const noexcept;
  /// A rank's index in this team; kNoRank if it is not a member.
  Rank index_of(Rank rank) const noexcept;

  /// Splits: members with the same colour form a team, ordered by key, then by index. Collective over this team.
  ///
  /// A member that passes no colour gets no team (an empty optional).
  /// Errors: peer_lost, in_handler (on the caller alone), no_memory. If one member gets no_memory, all do.
  Result<std::optional<Team>> split(std::optional<std::uint32_t> colour, std::uint32_t key);

  /// Split-phase barrier: says that I have arrived, and returns at once.
  ///
  /// A rank that wants its puts to be seen after the barrier waits for their completion before it notifies.
  /// Errors: in_handler; invalid_argument if the last notify has not been waited for.
  Status notify() noexcept;
  /// One round of progress; true once every member has notified (or failed to: then `wait` says so).
  bool try_wait() noexcept;
  /// Waits until every member has notified. Errors: peer_lost, also if the member was lost before this rank's notify;
  /// in_handler; invalid_argument without a notify.
  Status wait() noexcept;
  /// notify and wait.
  Status barrier() noexcept;

  explicit Team(std::unique_ptr<detail::TeamState> state);
  detail::TeamState& state() noexcept { return *state_; }

 private:
  std::unique_ptr<detail::TeamState> state_;
};

}  // namespace aqueduct
