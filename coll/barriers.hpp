#pragma once

#include "am/messages.hpp"
#include "coll/exchange.hpp"
#include "coll/wire.hpp"
#include "core/busy.hpp"
#include "core/endpoint_state.hpp"
#include "team/team_state.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace aqueduct::coll {

using aqueduct::detail::EndpointState;
using aqueduct::detail::Incoming;
using aqueduct::detail::TeamState;

/// One team's barrier on one member.
struct BarrierState {
  TeamState* team = nullptr;  ///< null while only others know of the team
  std::uint64_t phase = 0;    ///< the last one notified; phases are numbered 1, 2, …
  std::uint32_t round = 0;    ///< the round for whose arrival this rank waits
  std::uint32_t rounds = 0;
  std::uint32_t to_send = 0;         ///< the next round whose arrival this rank sends
  bool waiting = false;              ///< notified and not yet waited for
  bool too_late = false;             ///< a member was lost before this rank notified
  bool queued = false;               ///< an arrival to be sent has found no room
  std::vector<std::uint64_t> heard;  ///< [round] latest phase whose arrival has come in
  std::unique_ptr<core::NativeBarrier> native;
  std::uint64_t exchanges = 0;  ///< how many set-up exchanges the team has begun
};

/// A team's barrier; null after the end of the team or of its endpoint.
inline BarrierState* barrier_of(TeamState& team) noexcept {
  return static_cast<BarrierState*>(team.slot(aqueduct::detail::TeamSlot::barrier));
}

/// The barriers of an endpoint's teams: the conduit's own if it has one, otherwise dissemination by short messages.
///
/// Cost:   ceil(log2 P) rounds of one message each, for P members.
/// Source: Hensgen, Finkel and Manber, Int. J. Parallel Programming 17(1), 1988.
class Barriers final : public core::Layer {
 public:
  explicit Barriers(EndpointState& state);
  ~Barriers();

  /// Makes the barrier of a new team. It has the arrivals of members that have made the team earlier.
  void enter(TeamState& team);
  void leave(TeamState& team) noexcept;
  /// The team of that id, if this rank has it still; else null.
  TeamState* find(std::uint64_t team) noexcept {
    const auto found = barriers_.find(team);
    return found != barriers_.end() ? found->second.team : nullptr;
  }

  void notify(BarrierState& barrier) noexcept;
  bool reached(BarrierState& barrier) noexcept;
  /// For the stall report: the members for which the present phase waits.
  std::string missing(const BarrierState& barrier) const;
  Exchanges& exchanges() noexcept { return exchanges_; }

  void advance() noexcept override;

 private:
  void arrived(const Arrival& arrival) noexcept;
  BarrierState* heard_of(std::uint64_t team) noexcept;
  void step(BarrierState& barrier) noexcept;

  EndpointState& state_;
  Exchanges exchanges_;
  std::map<std::uint64_t, BarrierState> barriers_;  // by team id
  std::uint64_t strange_ = 0;                       ///< of these: without a Team on this rank
  std::uint64_t queued_ = 0;                        ///< of these: with an arrival to send
  core::Busy busy_;                                 ///< set while there are any
};

}  // namespace aqueduct::coll
