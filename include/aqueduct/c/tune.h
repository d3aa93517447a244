#pragma once

// The C face of aqueduct/tune.hpp: finding the fastest algorithms of collective operations by measuring.

#include <aqueduct/c/coll.h>

#ifdef __cplusplus
extern "C" {
#endif

/// As aqueduct::TuneOptions. All bytes 0 stand for its defaults.
typedef struct aq_tune_options {
  int64_t time;         ///< what the whole call may take, in nanoseconds; 0: ten seconds
  uint32_t candidates;  ///< how many algorithms of the model's order are measured for a size; 0: eight
  uint32_t type;        ///< aq_element_type of reductions; AQ_ELEMENT_BYTES, which is 0: double
  aq_coll_options calls;
  void (*work)(void* context);  ///< between begin and wait of each measured operation; null: nothing
  void* context;
  int64_t work_limit;  ///< what one call of it may take; 0: a second
  const char* save;    ///< a file, or a folder; null: nothing is saved
} aq_tune_options;

/// How often what happened.
typedef struct aq_tune_report {
  size_t found;      ///< sizes for which an algorithm was found
  size_t undecided;  ///< of these, whose best two are too close
  size_t left_out;   ///< as aqueduct::TuneReport::left_out
  int32_t saved;  ///< 1: the first member has added it to its file
  uint32_t reserved;
} aq_tune_report;

/// Measures which algorithms are the fastest on this team, for blocks of these sizes, and uses them from then on. All members
/// pass the same. Operations: AQ_COLL_BARRIER to AQ_COLL_EXSCAN. A barrier has no size: it is measured once, if it is not the conduit's
/// own. `options` and `report` may be null. aq_team_explain says what was found.
///
/// Errors: as aqueduct::tune; AQ_INVALID_ARGUMENT on all members also if one of them passes a null list with a count.
aq_status aq_team_tune(aq_team* team, const int* operations, size_t operation_count, const uint64_t* bytes,
                       size_t byte_count, const aq_tune_options* options, aq_tune_report* report) AQ_MUST_USE;

#ifdef __cplusplus
}
#endif
