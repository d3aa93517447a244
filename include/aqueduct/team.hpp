#pragma once

#include <aqueduct/endpoint.hpp>

#include <memory>
#include <optional>
#include <span>

namespace aqueduct {

namespace detail {
struct TeamState;
}

/// An ordered set of ranks: the participants of a barrier or a collective.
///
/// Threads: belongs to its endpoint, and to that endpoint's thread.
class Team {
 public:
  Team(Team&&) noexcept;
  Team& operator=(Team&&) noexcept;
  ~Team();

  /// The number of members.
  Rank size() const noexcept;
  /// My index among the members.
  Rank index() const noexcept;
  /// The members' ranks in the job, in team order, listed at the first call. Empty if there is no memory for the list;
  /// `rank_of` needs none.
  std::span<const Rank> members() const noexcept;
  /// A member's rank in the job; kNoRank if the index is outside the team.
  Rank rank_of(Rank index) const noexcept;
  /// A rank's index in this team; kNoRank if it is not a member.
  Rank index_of(Rank rank) const noexcept;

  /// Splits the team: members with the same colour form a new team, ordered by key, then by index. Collective over this
  /// team. A member that passes no colour gets an empty optional.
  ///
  /// Errors: peer_lost, in_handler (returned to the caller only), no_memory. If one member gets no_memory, all do.
  Result<std::optional<Team>> split(std::optional<std::uint32_t> colour, std::uint32_t key);

  /// First half of a split-phase barrier: announces that I have arrived, and returns at once.
  ///
  /// The barrier does not complete puts. For others to see my puts after the barrier, I wait for these puts before
  /// notify.
  ///
  /// Errors: in_handler; invalid_argument if the previous notify has not been waited for.
  Status notify() noexcept;
  /// Returns whether `wait` would return at once, after at most one round of progress: every member has notified, or
  /// one is lost.
  bool try_wait() noexcept;
  /// Second half: waits until every member has notified.
  ///
  /// Errors: peer_lost, also if the member was lost before this rank's notify; in_handler; invalid_argument without a
  ///         notify.
  Status wait() noexcept;
  /// A whole barrier: notify and wait. Errors: those of both.
  Status barrier() noexcept;

  explicit Team(std::unique_ptr<detail::TeamState> state);
  detail::TeamState& state() noexcept { return *state_; }

 private:
  std::unique_ptr<detail::TeamState> state_;
};

}  // namespace aqueduct
