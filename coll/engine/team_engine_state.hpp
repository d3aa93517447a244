#pragma once

#include "coll/engine/blocks_methods.hpp"
#include "coll/engine/call_record.hpp"
#include "coll/engine/latest_calls.hpp"
#include "coll/engine/places.hpp"
#include "coll/engine/pool.hpp"
#include "coll/engine/said_calls.hpp"
#include "coll/engine/team_agreement.hpp"
#include "coll/engine/team_choices.hpp"
#include "coll/engine/timed_out.hpp"
#include "coll/shared/board.hpp"
#include "rma/transfers.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace aqueduct::coll {

class TeamEngine;

/// What a team's engine knows between its calls: the team's memory, what has gone wrong, and the calls and runs in flight.
///
/// A base of TeamEngine, whose functions alone use it.
class TeamEngineState : public TeamChoices {
 protected:
  static constexpr std::uint64_t kNotBroken = ~std::uint64_t{0};
  /// How the engine carries out the team's barriers.
  struct BarrierCall {
    KnownCall call;
    Method method;
  };

  TeamEngineState(Collectives& all, TeamState& team)
      : TeamChoices(all, team),
        transfers_(*team.endpoint.transfers),
        agreement_(team.endpoint.rank, team.size()) {}
  ~TeamEngineState() = default;

  rma::Transfers& transfers_;
  const Algorithm* latest_algorithm_ = nullptr;  ///< of the last call that was looked up by its shape
  TeamPlaces places_;
  std::byte* base_ = nullptr;             ///< this member's scratch
  std::span<std::uint64_t> words_;        ///< its counters, in this member's memory
  std::unique_ptr<TeamScratch> scratch_;  ///< made by the first call
  TeamAgreement agreement_;
  Status broken_;   ///< why calls fail from now on: the first failure
  Status earlier_;  ///< why operations before `first_broken_` were cancelled later
  std::uint64_t first_broken_ = kNotBroken;
  std::uint64_t broken_from_ = kNotBroken;  ///< operations from this number on are cancelled
  bool team_gone_ = false;
  bool scratch_missed_ = false;  ///< the log says that the team has none
  bool no_room_ = false;         ///< something found no room in this pass
  bool raised_own_ = false;      ///< a step has raised a counter of this member
  bool trying_ = false;          ///< the call that begins is a trial: its method is for it alone
  bool listed_ = false;          ///< among the layer's busy teams
  bool quiet_ = true;  ///< no failure, and no member has told of a call that this one has yet to make
  bool shares_memory_ = false;
  bool maps_ = false;         ///< a conduit of the team can map memory
  SegmentId found_last_ = 0;  ///< the segment of the latest output that members announced

  CallRecord* first_ = nullptr;  ///< calls that are not over, or not drained
  CallRecord** end_ = &first_;
  CallRecord* opening_ = nullptr;  ///< the first of these that has runs to open; null: none
  Run* held_ = nullptr;            ///< opened, and may not start yet
  Run* active_ = nullptr;          ///< have started
  Run** active_end_ = &active_;
  Run* newest_ = nullptr;            ///< the latest to start
  TeamEngine* next_busy_ = nullptr;  ///< among the layer's busy teams, if it is listed there
  Plan* plans_ = nullptr;
  core::Op all_;  ///< has a part for each put and signal that is not over, and one of its own
  std::unique_ptr<LatestCalls> latest_;  ///< made by the first call, as is scratch_
  KnownCall* const* known_ =
      LatestCalls::kNoneYet.data();  ///< latest_->known, so that a call need not ask whether there are any
  BarrierCall* barrier_ = nullptr;   ///< of `barriers_`; null: the next barrier chooses
  /// One for each way in which the team has carried out barriers: an earlier one may still be in flight.
  std::vector<std::unique_ptr<BarrierCall>> barriers_;
  std::unique_ptr<core::NativeTeam> native_;    ///< null: the library carries out all operations
  core::NativeRedirects* redirects_ = nullptr;  ///< null: blocks are copied out of scratch
  std::unique_ptr<Board> board_;                ///< null: the team has none
  std::unique_ptr<SaidCalls> said_;             ///< null: the team has no board
  std::uint64_t native_offer_ = 0;
  std::uint64_t natives_started_ = 0;
  std::unique_ptr<BlocksMethods> blocks_;  ///< null: no call has had blocks that may differ
  std::unique_ptr<TimedOut> timed_out_;    ///< null: no call has timed out that is not over
};

}  // namespace aqueduct::coll
