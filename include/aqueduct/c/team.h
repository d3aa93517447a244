#pragma once

// The C face of aqueduct/team.hpp.

#include <aqueduct/c/event.h>
#include <aqueduct/c/rank_list.h>

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/// An ordered set of ranks: the participants of a barrier or a collective.
typedef struct aq_team aq_team;

/// The team of all ranks. It belongs to the endpoint and is not destroyed.
aq_team* aq_world(aq_endpoint* ep);
/// Waits until every rank has called it: a barrier of the world.
aq_status aq_barrier(aq_endpoint* ep) AQ_MUST_USE;

uint32_t aq_team_size(const aq_team* team);
uint32_t aq_team_index(const aq_team* team);
/// A member's rank in the job, and a rank's index in the team; AQ_NO_RANK if there is none.
uint32_t aq_team_rank_of(const aq_team* team, uint32_t index);
uint32_t aq_team_index_of(const aq_team* team, uint32_t rank);

/// Splits the team by colour; members are ordered by key, then by index. Collective. With AQ_NO_COLOUR, *made is null.
#define AQ_NO_COLOUR INT64_MAX
/// Errors: also, on the caller alone, AQ_INVALID_ARGUMENT for a colour that is neither AQ_NO_COLOUR nor a 32-bit number,
///         and AQ_NO_MEMORY if there is none for the handle. Nothing has happened then, and the others wait for the
///         caller to call again.
aq_status aq_team_split(aq_team* team, int64_t colour, int64_t key, aq_team** made) AQ_MUST_USE;
/// Makes a team of the given ranks, in this order. Collective over these ranks alone. The tag and the ranks name it.
/// Errors: also AQ_NO_MEMORY on the caller alone, as aq_team_split.
aq_status aq_team_create(aq_endpoint* ep, const uint32_t* ranks, size_t count, uint64_t tag,
                         aq_team** made) AQ_MUST_USE;
/// The same for a list, which may be destroyed when the call returns.
aq_status aq_team_create_of_list(aq_endpoint* ep, const aq_rank_list* members, uint64_t tag,
                                 aq_team** made) AQ_MUST_USE;
/// Makes a team of the listed members, in the list's order. Collective over `team`, with the same list on all members;
/// *made is null for members that are not listed. Errors: AQ_INVALID_ARGUMENT (a listed rank is not in the team) and
///         AQ_MISMATCH (the lists differ), on all members; also those of aq_team_split for the handle.
aq_status aq_team_split_list(aq_team* team, const aq_rank_list* members, aq_team** made) AQ_MUST_USE;
/// A second team of the same members in the same order. Collective. Errors: AQ_MISMATCH if another member splits; and
///         AQ_NO_MEMORY as aq_team_split.
aq_status aq_team_dup(aq_team* team, aq_team** made) AQ_MUST_USE;

/// The members' ranks as a list; those on this rank's host; one of each host. Nothing is sent.
/// Errors: AQ_NO_MEMORY; of the last two also AQ_CLOSED.
aq_status aq_team_rank_list(const aq_team* team, aq_rank_list** made) AQ_MUST_USE;
aq_status aq_team_on_my_host(const aq_team* team, aq_rank_list** made) AQ_MUST_USE;
aq_status aq_team_host_leaders(const aq_team* team, aq_rank_list** made) AQ_MUST_USE;
/// As aq_rank_list_translate and aq_rank_list_compare, for the members of two teams.
aq_status aq_team_translate(const aq_team* from, const uint32_t* indices, size_t count, const aq_team* to,
                            uint32_t* into) AQ_MUST_USE;
int aq_team_compare(const aq_team* a, const aq_team* b);

/// Ends the team on all members: collective. `team` must still be destroyed.
aq_status aq_team_end(aq_team* team) AQ_MUST_USE;
/// Frees a team that one of the calls above has made, on this rank. `team` may be null.
void aq_team_destroy(aq_team* team);

/// A split-phase barrier: announces that I have arrived; whether a wait would return at once; waits for all members.
aq_status aq_team_notify(aq_team* team) AQ_MUST_USE;
bool aq_team_try_wait(aq_team* team);
aq_status aq_team_wait(aq_team* team) AQ_MUST_USE;
aq_status aq_team_barrier(aq_team* team) AQ_MUST_USE;
/// A barrier as an event. At most 8 of a team are in flight.
aq_event aq_team_barrier_nb(aq_team* team) AQ_MUST_USE;
/// The same with a value: AQ_MISMATCH if two members give different ones.
aq_status aq_team_notify_value(aq_team* team, uint32_t value) AQ_MUST_USE;
/// The same with a value that equals no other: all members get AQ_MISMATCH.
aq_status aq_team_disagree(aq_team* team) AQ_MUST_USE;
/// Whether the members of the last barrier of aq_team_wait or aq_team_barrier have agreed on a value, which is stored then. Until
/// this member begins the next one. `value` may be null.
bool aq_team_agreed(const aq_team* team, uint32_t* value);
aq_status aq_team_barrier_value(aq_team* team, uint32_t value) AQ_MUST_USE;
aq_event aq_team_barrier_value_nb(aq_team* team, uint32_t value) AQ_MUST_USE;

#ifdef __cplusplus
}
#endif
