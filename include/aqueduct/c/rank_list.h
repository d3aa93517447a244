#pragma once

// The C face of aqueduct/rank_list.hpp. <aqueduct/c/team.h> makes teams of lists, and lists of teams.

#include <aqueduct/c/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Ranks in an order, none of them twice. A list does not change; each call makes a new one, which is destroyed by
/// aq_rank_list_destroy. Nothing here communicates. An index is a place in the list, from 0.
typedef struct aq_rank_list aq_rank_list;

/// The numbers first, first + stride, first + 2 * stride, ... that do not pass `last`. The stride may be negative.
typedef struct aq_rank_range {
  uint32_t first;
  uint32_t last;
  int64_t stride;
} aq_rank_range;

/// How two lists, or the members of two teams, compare: the values of aqueduct::Likeness.
enum aq_likeness {
  AQ_LIKENESS_SAME,       ///< the same ranks in the same order
  AQ_LIKENESS_REORDERED,  ///< the same ranks in another order
  AQ_LIKENESS_DIFFERENT
};

/// The given ranks; those of ranges, one after the other. Without ranks the list is empty.
/// Errors: AQ_INVALID_ARGUMENT (a rank occurs twice; a stride is 0 or leads away from `last`; null with a count), AQ_OUT_OF_RANGE
///         (AQ_NO_RANK or AQ_ANY_RANK is among them), AQ_NO_MEMORY, as of all calls that make a list.
aq_status aq_rank_list_of(const uint32_t* ranks, size_t count, aq_rank_list** made) AQ_MUST_USE;
aq_status aq_rank_list_of_ranges(const aq_rank_range* ranges, size_t count, aq_rank_list** made) AQ_MUST_USE;
/// Frees the list. `list` may be null.
void aq_rank_list_destroy(aq_rank_list* list);

uint32_t aq_rank_list_size(const aq_rank_list* list);
/// The rank at an index, and a rank's index; AQ_NO_RANK if there is none.
uint32_t aq_rank_list_rank_of(const aq_rank_list* list, uint32_t index);
uint32_t aq_rank_list_index_of(const aq_rank_list* list, uint32_t rank);

/// The ranks of a, then those of b that are not in a; those of a that are in b; those of a that are not in b.
aq_status aq_rank_list_union(const aq_rank_list* a, const aq_rank_list* b, aq_rank_list** made) AQ_MUST_USE;
aq_status aq_rank_list_intersection(const aq_rank_list* a, const aq_rank_list* b,
                                    aq_rank_list** made) AQ_MUST_USE;
aq_status aq_rank_list_difference(const aq_rank_list* a, const aq_rank_list* b,
                                  aq_rank_list** made) AQ_MUST_USE;

/// The ranks at the given indices, in the order of the indices; the ranks but those.
/// Errors: also AQ_OUT_OF_RANGE (an index is outside the list), AQ_INVALID_ARGUMENT (an index occurs twice; null with a count).
aq_status aq_rank_list_include(const aq_rank_list* list, const uint32_t* indices, size_t count,
                               aq_rank_list** made) AQ_MUST_USE;
aq_status aq_rank_list_exclude(const aq_rank_list* list, const uint32_t* indices, size_t count,
                               aq_rank_list** made) AQ_MUST_USE;
/// The same with ranges of indices.
aq_status aq_rank_list_include_ranges(const aq_rank_list* list, const aq_rank_range* indices, size_t count,
                                      aq_rank_list** made) AQ_MUST_USE;
aq_status aq_rank_list_exclude_ranges(const aq_rank_list* list, const aq_rank_range* indices, size_t count,
                                      aq_rank_list** made) AQ_MUST_USE;

/// Stores in into[i] at which index of `to` the rank is that is at index indices[i] of `from`; AQ_NO_RANK if it is not
/// there. `into` may be `indices`. Errors: AQ_OUT_OF_RANGE (an index is neither in `from` nor AQ_NO_RANK), AQ_INVALID_ARGUMENT (null with a
/// count).
aq_status aq_rank_list_translate(const aq_rank_list* from, const uint32_t* indices, size_t count,
                                 const aq_rank_list* to, uint32_t* into) AQ_MUST_USE;
/// enum aq_likeness
int aq_rank_list_compare(const aq_rank_list* a, const aq_rank_list* b);

#ifdef __cplusplus
}
#endif
