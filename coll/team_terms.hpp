#pragma once

#include <aqueduct/rank.hpp>
#include <aqueduct/status.hpp>

#include "coll/engine/pending_offer.hpp"
#include "team/team_state.hpp"

#include <cstdint>

namespace aqueduct::coll {

/// What a member of a new team tells the others in the exchange that decides whether the team is made: it has then made its
/// part of the team, whose members it knows from an exchange before. Travels as it is.
struct TeamTerms {
  std::uint32_t code =
      0;  ///< 0, or the ErrorCode for which this member cannot have the team: then nobody gets it
  Rank rank = kNoRank;       ///< the rank that has the problem
  std::uint64_t native = 0;  ///< 1: its conduit has a barrier for the team
  std::uint64_t collectives =
      0;  ///< what other operations its conduit has for it: NativeCollectives::offer; 0: none
  TeamOffer offer;
  std::uint64_t tuning = 0;  ///< TuningTable::hash of what it chooses by
};
static_assert(sizeof(TeamTerms) == 64);

/// Makes what the layers have for a new team. Call before `settle_team`; the team's end undoes it. May throw std::bad_alloc.
TeamTerms prepare_team(TeamState& made);

/// Decides with the other members of `over` whether the new teams among them are made: all members get theirs, or none
/// does. `made`: this member's, prepared; null if it gets none, or has failed. `exchanges` counts those of `over`. `here`:
/// whether this member's part has gone well.
/// Errors: the first member's in the order of `over`: then nobody has a team, and what was prepared is given back. Those of
///         Exchanges::exchange, or no_memory at this rank: then this member has none, though others may. It has told the
///         members of `made`, so their collective operations end in `mismatch` with this rank.
Status settle_team(TeamState* made, TeamState& over, std::uint64_t& exchanges, TeamTerms terms,
                   Status here) noexcept;

}  // namespace aqueduct::coll
