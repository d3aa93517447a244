#pragma once

#include <aqueduct/team.hpp>

#include "am/messages.hpp"
#include "coll/absences.hpp"
#include "coll/exchange.hpp"
#include "coll/farewells.hpp"
#include "coll/loss_news.hpp"
#include "coll/team_names.hpp"
#include "coll/wire.hpp"
#include "core/barrier_vote.hpp"
#include "core/busy.hpp"
#include "core/endpoint_state.hpp"
#include "team/team_state.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace aqueduct::coll {

using aqueduct::detail::EndpointState;
using aqueduct::detail::Incoming;
using aqueduct::detail::TeamState;

class TeamEngine;
struct BarrierState;

/// A phase of a barrier that this rank has begun or wants to begin.
struct BarrierPhase {
  core::BarrierVote vote;  ///< this rank's
  core::Op* op = nullptr;  ///< ends with the phase; null: the phase is that of `notify` and `wait`
};

/// A barrier that the engine carries out: the data of its operation.
struct BarrierFlight {
  BarrierState* barrier;  ///< null: the team has ended
  std::uint64_t vote;     ///< bits of a core::BarrierVote: this rank's, in the end those of all members
};

/// The barriers of a team that the engine carries out.
struct BarrierFlights {
  std::array<core::Op*, Team::kMostBarriers> ops{};  ///< their operations; null: unused
  /// The operation of `notify`. Not one of the endpoint's: a program that holds all of these can still use barriers.
  std::unique_ptr<core::Op> split_op = std::make_unique<core::Op>();
};

/// What a peer has said in one round of a phase.
struct HeardArrival {
  std::uint64_t phase = 0;
  core::BarrierVote vote;
};

/// One team's barrier on one member.
///
/// Phases are those of a conduit's own barrier, and of messages. One is under way at a time. Further ones wait here for
/// their turn, because a conduit's own barrier counts one phase at a time. What the engine carries out has no phase: it
/// begins at once, and several are in flight.
struct BarrierState {
  TeamState* team = nullptr;  ///< null while only others know of the team
  std::uint64_t phase = 0;    ///< under way, or the last one that was; phases are numbered 1, 2, …
  std::uint64_t asked = 0;    ///< the last phase that this rank has asked for
  std::uint32_t round = 0;    ///< the round for whose arrival this rank waits
  std::uint32_t rounds = 0;
  std::uint32_t to_send = 0;  ///< the next round whose arrival this rank sends
  std::uint32_t ops = 0;      ///< phases asked for that end an operation
  /// The last exchange of the team of which this rank knows that it was given up (Exchanges::give_up), and why. 0: none.
  std::uint64_t given_up = 0;
  Status why_given_up;
  bool finishing = false;        ///< this rank is in Job::finish; false for the barriers of that call itself
  bool leaving = false;          ///< it is, or in Team::end of this team
  bool left = false;             ///< it is the last one that this rank has begun
  bool under_way = false;        ///< `phase` has begun and has not ended
  bool waiting = false;          ///< notified and not yet waited for
  bool split_over = false;       ///< the notified phase has ended, with split_outcome
  bool too_late = false;         ///< a member was lost before `phase` began
  bool queued = false;           ///< an arrival to be sent has found no room
  bool split_by_engine = false;  ///< the engine carries out, or has, the barrier of `notify`
  bool split_flies = false;      ///< the engine carries out the barrier of `notify`: `split_op`
  std::uint32_t flying = 0;      ///< barriers that the engine carries out
  std::unique_ptr<BarrierFlights> flights;  ///< made by the first of them
  core::BarrierVote vote;  ///< of the members of which this rank has heard in this phase, merged
  Status split_outcome;
  std::array<BarrierPhase, Team::kMostBarriers> phases;  ///< [phase % kMostBarriers]
  /// [2 * round + phase % 2]: a member that this rank waits for is at most one phase ahead.
  std::vector<HeardArrival> heard;
  std::unique_ptr<core::NativeBarrier> native;
  std::uint64_t exchanges = 0;  ///< how many set-up exchanges the team has begun

  std::uint64_t phases_in_flight() const noexcept { return asked - phase + (under_way ? 1 : 0); }
  /// The number of barriers in flight.
  std::uint64_t in_flight() const noexcept { return phases_in_flight() + flying; }
  bool has_room() const noexcept { return in_flight() < phases.size(); }
};

/// A team's barrier; null after the end of the team or of its endpoint.
inline BarrierState* barrier_of(TeamState& team) noexcept {
  return static_cast<BarrierState*>(team.slot(aqueduct::detail::TeamSlot::barrier));
}

/// The barriers of an endpoint's teams: the conduit's own if it has one, otherwise all-reduces of the engine. A team
/// without scratch, and the end of a team, use dissemination by short messages.
///
/// Cost:   of messages: ceil(log2 P) rounds of one message each, for P members.
/// Source: Hensgen, Finkel and Manber, Int. J. Parallel Programming 17(1), 1988.
class Barriers final : public core::Layer {
 public:
  explicit Barriers(EndpointState& state);
  ~Barriers();

  /// Makes the barrier of a new team. It has the arrivals of members that have made the team earlier.
  void enter(TeamState& team);
  /// Ends the barrier. Operations in flight end with `closed`. `together`: all members end it, and what a conduit's own
  /// barrier used may serve another team.
  void leave(TeamState& team, bool together = false) noexcept;
  /// Finds a rank with which no barrier can end, because this process has no memory, and logs why. kNoRank: there is no such
  /// rank. Either its arrival could not be remembered (also because this rank remembers kMostStrange teams that it has not
  /// made), or for some seconds there was no room for a message to it, although
  /// nothing was in flight. Such a barrier would wait for ever, since conduits try again. Call it regularly.
  Rank unreachable() noexcept;
  /// Waits until all members have called it. Returns ok if they agree on `well`, else mismatch; peer_lost. No memory is
  /// allocated, so that no other failure ends a team on some members only. Afterwards the barrier is used no more, but for `leave`.
  /// Requires: no phase is under way or notified.
  Status agree_to_end(TeamState& team, bool well) noexcept;
  /// Whether this rank's conduit has a barrier for a team that was just made. The other members may have had no memory for
  /// it, or may still use it for a team that ended only here.
  static bool has_native(TeamState& made) noexcept;
  /// Chooses the barrier of a new team, before its first use: the conduits' own if all members have it, else messages.
  static void choose_native(TeamState& made, bool all_have_it) noexcept;
  /// The team of that id, if this rank has it still; else null.
  TeamState* find(std::uint64_t team) noexcept {
    const auto found = barriers_.find(team);
    return found != barriers_.end() ? found->second.team : nullptr;
  }

  /// Begins the team's next barrier. `op`: an operation of the endpoint, with one part, which ends with the barrier; null
  /// for the barrier of notify and wait. Requires: has_room().
  /// Errors: refused, no_memory (nothing has happened). With `op` also why the barrier cannot end well: then `op` has not
  ///         ended. Without, `wait` returns that.
  Status ask(BarrierState& barrier, core::BarrierVote vote, core::Op* op) noexcept;
  /// Whether the next barrier, a blocking one, can be carried out at once on the team's board. Requires: may_wait_at_once, and no
  /// barrier of the conduit.
  static bool may_call_at_once(const BarrierState& barrier) noexcept;
  /// Carries it out. True: it has ended, with `split_outcome`. False: it goes on as the barrier of `notify`, and Team::wait waits
  /// for it.
  bool call_at_once(BarrierState& barrier, core::BarrierVote vote) noexcept;
  /// Begins a barrier of Job::finish. It goes by messages of its own: what the program has left in flight does not matter to it,
  /// though members may have left different calls and different numbers of barriers. Nothing is allocated or refused.
  void ask_to_finish(TeamState& world) noexcept;
  /// Takes part in the conduit's barriers, or those of messages, that other ranks have begun and this one has not, and never will:
  /// they end with mismatch. Without that a rank that waits in one, and this one in Job::finish, would wait for each other. Call it
  /// regularly from `ask_to_finish` on until all ranks have passed `left_over`.
  void join_phases() noexcept;
  /// Whether it has ended: all ranks are in Job::finish, or one is lost.
  bool finish_over() noexcept { return split_over(finish_); }
  /// How it has ended: ok or peer_lost. Requires: finish_over().
  Status finish_outcome() const noexcept { return finish_.split_outcome; }
  /// Whether the conduit's barriers, or those of messages, that the program has left in flight have ended: well, as far as all
  /// ranks have begun them. Requires: finish_over().
  bool left_over() noexcept;
  /// The ranks that have not reached the barrier of Job::finish, for the stall report.
  std::string missing_to_finish() const { return missing(finish_); }
  /// Whether the barrier of the last `notify` has ended: all members have arrived, or one is lost.
  bool split_over(BarrierState& barrier) noexcept;
  /// The votes of all members in the last barrier of `notify` and `wait`. Requires: it has ended, and no other has begun.
  static core::BarrierVote votes_of_last(const BarrierState& barrier) noexcept;
  /// Ends the barriers in flight that a member does not reach any more: it is lost, or does not have the team.
  void end_operations(BarrierState& barrier) noexcept;
  /// For the stall report of a wait for the barrier of `notify`.
  std::string describe_split(const BarrierState& barrier) const;
  /// For the stall report: the members for which the present phase waits.
  std::string missing(const BarrierState& barrier) const;
  Exchanges& exchanges() noexcept { return exchanges_; }
  Farewells& farewells() noexcept { return farewells_; }
  LossNews& loss_news() noexcept { return loss_news_; }
  Absences& absences() noexcept { return absences_; }
  TeamNames& names() noexcept { return names_; }
  /// The most teams without a Team object on this rank for which arrivals are remembered: teams that a peer has made earlier
  /// than this rank (one for each peer), and teams that this rank has ended alone. Chosen: at most 60 MiB in a job of 4096
  /// ranks, as a bound against a peer that invents teams.
  static constexpr std::uint64_t kMostStrange = 65536;
  /// The number of teams of which this rank knows, or has heard.
  std::size_t kept() const noexcept { return barriers_.size(); }

  void advance() noexcept override;
  void peer_lost(Rank peer) noexcept override;
  void describe(std::string& text, Rank peer) const override;

 private:
  void arrived(Rank from, const Arrival& arrival) noexcept;
  BarrierState* heard_of(Rank from, std::uint64_t team) noexcept;
  Status fly(TeamEngine& engine, BarrierState& barrier, core::BarrierVote vote, core::Op* op) noexcept;
  void take_off(BarrierState& barrier, core::Op& op) noexcept;
  static bool take_turns(TeamEngine& engine, BarrierState& barrier) noexcept;
  bool follow(TeamEngine& engine, BarrierState& barrier, core::Op& op) noexcept;
  static void land(BarrierState& barrier, const core::Op& op) noexcept;
  void let_go(BarrierState& barrier) noexcept;
  static bool flight_ended(core::Layer& layer, core::Op& op) noexcept;
  void ask_for_phase(BarrierState& barrier, core::BarrierVote vote, core::Op* op) noexcept;
  void begin_next(BarrierState& barrier) noexcept;
  void step(BarrierState& barrier) noexcept;
  bool reached(BarrierState& barrier) noexcept;
  void send_queued(BarrierState& barrier) noexcept;
  Rank without_room(const BarrierState& barrier) const noexcept;
  void settle(BarrierState& barrier) noexcept;
  void end_phase(BarrierState& barrier, Status outcome) noexcept;
  void give_up(BarrierState& barrier) noexcept;
  void set_busy() noexcept { busy_.set(queued_ + polled_ != 0); }

  EndpointState& state_;
  Exchanges exchanges_;
  Farewells farewells_;
  LossNews loss_news_;
  Absences absences_;
  TeamNames names_;
  std::map<std::uint64_t, BarrierState> barriers_;  // by team id
  BarrierState finish_;                             ///< that of Job::finish, of the team of all ranks
  std::uint64_t left_ = 0;                          ///< the last phase that the program has left in flight
  /// Operations of `notify` in flight, for which nobody waits any more: the engine ends them when their votes are in use no more.
  std::vector<std::unique_ptr<core::Op>> gone_;
  std::uint32_t most_rounds_;  ///< of a team of all ranks
  std::uint64_t strange_ = 0;  ///< of these: without a Team on this rank
  /// Why an arrival of a rank could not be remembered; until it is reported.
  enum class Forgotten : std::uint8_t { no, no_memory, too_many };
  void report_forgotten(Rank from, Forgotten why) noexcept;
  std::vector<Forgotten> forgotten_;  // [rank]
  bool has_forgotten_ = false;
  core::Clock::time_point looked_at_{};    // by `unreachable`
  core::Clock::time_point short_since_{};  // since then it has found messages that wait, and no memory
  std::uint64_t queued_ = 0;               ///< of these: with an arrival to send
  std::uint64_t polled_ = 0;               ///< of these: with operations that no message ends
  core::Busy busy_;                        ///< set while there are any of the last two kinds
};

}  // namespace aqueduct::coll
