#pragma once

// The C face of aqueduct/shared_event.hpp.

#include <aqueduct/c/event.h>

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/// The completion of one operation for several holders: one word. Each copy is made by aq_shared_copy and ended by
/// aq_shared_drop. All zero is a finished one, of an operation that succeeded.
typedef struct aq_shared_event {
  void* word;
} aq_shared_event;

/// Makes an event shareable, with one holder. `event` is given up: it is finished afterwards.
aq_shared_event aq_share(aq_event* event) AQ_MUST_USE;
/// Another copy, for another holder. Any thread.
aq_shared_event aq_shared_copy(aq_shared_event event) AQ_MUST_USE;
/// Ends this copy. Dropping the last one while the operation is in flight is misuse. Any thread.
void aq_shared_drop(aq_shared_event* event);

/// Whether the operation is over. Makes no progress. Any thread.
static inline bool aq_shared_done(const aq_shared_event* event) {
#ifdef AQUEDUCT_CHECKED
  if (event == NULL) return true;  // a wait refuses it
#endif
  if (event->word == NULL || ((uintptr_t)event->word & 1) != 0) return true;
  return __atomic_load_n((const uint32_t*)event->word, __ATOMIC_ACQUIRE) != 0;
}
/// Whether it is over, after one round of progress if it was not.
bool aq_shared_test(aq_endpoint* ep, const aq_shared_event* event);
/// Waits for at most `limit` nanoseconds until it is over; returns its outcome. Errors: also AQ_TIMED_OUT,
/// AQ_IN_HANDLER.
aq_status aq_shared_wait(aq_endpoint* ep, const aq_shared_event* event, int64_t limit) AQ_MUST_USE;

#ifdef __cplusplus
}
#endif
