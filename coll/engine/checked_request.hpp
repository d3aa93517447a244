#pragma once

#include <aqueduct/coll.hpp>

#include "coll/engine/request.hpp"
#include "coll/engine/user_operators.hpp"
#include "team/team_state.hpp"

#include <string>

namespace aqueduct::coll {

/// What a call says of itself, as it was given: also a call that is refused. `ranks`: of its team.
CallDescription description_of(const aqueduct::detail::CollCall& call, Rank ranks) noexcept;

/// The part of checked_request that is about numbers: options, element and root; not the operation.
Status check_options(const aqueduct::detail::CollCall& call, Rank ranks, std::string& why) noexcept;

/// Checks a call's arguments on this member, and finds the memory that they name. Sends nothing.
///
/// If a call works in place, the request's buffers lie where the schedules expect them (proved by aqcheck):
///   broadcast at the root, all_reduce, reduce at the root, scan, exscan   `in` is `out`
///   all_gather, gather at the root                                        `in` is my block of `out`
///   scatter at the root                                                   `out` is my block of `in`
/// A buffer in which this member has no block has no memory here (Buffer::mine is null); every other one has, even if
/// its blocks are empty.
///
/// On failure `why` is a sentence that names the argument, the limit, and what to try. Empty: no memory for it.
/// Cost: no allocation on success. Constant, but for a list of places with a place for each member.
Result<Request> checked_request(aqueduct::detail::TeamState& team, const aqueduct::detail::CollCall& call,
                                const UserOperators& operators, std::string& why) noexcept;

}  // namespace aqueduct::coll
