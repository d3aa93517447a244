#pragma once

#include <aqueduct/coll_v.hpp>

#include "coll/engine/blocks_call.hpp"
#include "team/team_state.hpp"

#include <string>

namespace aqueduct::coll {

/// What a call says of itself, as it was given: also a call that is refused. `ranks`: of its team.
CallDescription description_of(const aqueduct::detail::CollBlocksCall& call, Rank ranks) noexcept;

/// Checks a call whose blocks may differ on this member, as checked_request does for the others, and writes down where its
/// blocks lie and what their lengths are. Sends nothing.
///
/// On failure `why` is a sentence that names the argument, the limit, and what to try. Empty: no memory for it.
/// Errors: invalid_argument, no_memory (for the lists).
/// Cost:   O(P), and O(P log P) if the displacements of an output are in no order.
Status check_blocks(aqueduct::detail::TeamState& team, const aqueduct::detail::CollBlocksCall& call,
                    BlocksCall& checked, std::string& why) noexcept;

}  // namespace aqueduct::coll
