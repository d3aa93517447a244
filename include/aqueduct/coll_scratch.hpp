#pragma once

#include <aqueduct/status.hpp>
#include <aqueduct/team.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

// Scratch of the program's own. The collective operations of a team pass bytes through scratch, which is hidden memory of the
// library unless the program gives some of its own.

namespace aqueduct {

/// How many bytes of scratch each member must give to `use_scratch` at the least. It grows with the number of members. More
/// makes long operations faster: they go in pieces of what a third of the scratch holds.
std::uint64_t least_scratch(const Team& team) noexcept;

/// From now on the team's collective operations pass their bytes through `mine`, a piece of this member's part of a
/// segment. Collective; waits for all members, and for this one's operations of the team.
///
/// Shape:    `mine` lies in a segment that all members of the team know, such as the primary one. Only whole lines of 64
///           bytes count. Members may give pieces of different sizes: the least one counts. If all give an empty one, the
///           team has the library's own memory again.
/// Requires: the program does not touch the piece, and gives it to no other team, until the team ends or has other scratch.
/// Memory:   the library's own memory of the team stays its own. Its counters always are.
/// Errors:   invalid_argument (on all members, with the rank whose argument is wrong: a piece that is too short, whose
///           log names the least size; not in a segment that all know; plans of the team are bound; a split-phase barrier
///           is not over), mismatch (a member makes another call), the failure that has broken the team, peer_lost: the
///           team then has the scratch that it had. no_memory: the team is broken. in_handler, closed: on this member only.
/// Cost:     three set-up exchanges of the team.
Status use_scratch(Team& team, std::span<std::byte> mine) noexcept;

}  // namespace aqueduct
