#pragma once

// What most calls take: pointers into segments, events, options.

#include <aqueduct/c/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/// One rank: see <aqueduct/c/endpoint.h>.
typedef struct aq_endpoint aq_endpoint;
/// Operations that are waited for together: see <aqueduct/c/group.h>.
typedef struct aq_group aq_group;

/// No limit of time.
#define AQ_FOREVER INT64_MAX

/// A place in some rank's part of a segment: the layout of aqueduct::GlobalPtr.
typedef struct aq_ptr {
  uint32_t rank;
  uint32_t segment;  ///< 0 is the primary segment
  uint64_t offset;   ///< in bytes, from the start of the rank's part
} aq_ptr;

static inline aq_ptr aq_at(uint32_t rank, uint32_t segment, uint64_t offset) {
  const aq_ptr at = {rank, segment, offset};
  return at;
}
/// The place `bytes` bytes further.
static inline aq_ptr aq_add_offset(aq_ptr at, int64_t bytes) {
  at.offset += (uint64_t)bytes;
  return at;
}

/// The completion of one operation, or of a region: one word. All zero is a finished one, of an operation that
/// succeeded.
///
/// There is one holder: a copy is not another event. Whoever holds it waits for it once (aq_wait); afterwards it is
/// finished, keeps its outcome, and may be forgotten. aqueduct/event.hpp, Event::release.
typedef struct aq_event {
  void* word;
} aq_event;

static inline aq_event aq_finished_event(void) {
  const aq_event done = {NULL};
  return done;
}

/// Flags of aq_options. A call ignores those that it has no use for; unknown bits are AQ_INVALID_ARGUMENT.
enum {
  AQ_IMMEDIATE = 1,         ///< AQ_REFUSED instead of waiting for room; nothing has happened then
  AQ_NOTIFY = 2,            ///< puts, atomics: wakes a neighbour whose mapped memory was changed
  AQ_SOURCE_AT_RETURN = 4,  ///< puts: the source may be reused when the call returns
  AQ_SOURCE_ON_EVENT = 8  ///< puts: … when `source_event` is done; without one, when the group's sources are
};

/// Options of puts, gets, atomics and messages: PutOptions, GetOptions, AtomicOptions and AmOptions in one. A null
/// pointer to it stands for all zero.
typedef struct aq_options {
  uint32_t flags;
  uint32_t reserved;  ///< 0
  aq_event*
      source_event;  ///< null, or where the event of the source buffer is stored; implies AQ_SOURCE_ON_EVENT
  aq_group* group;   ///< the _nbi forms and messages: null, or the group that the operation joins
} aq_options;

#ifdef __cplusplus
}
#endif
