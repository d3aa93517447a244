#pragma once

// The C face of aqueduct/event.hpp and aqueduct/continuation.hpp: waiting for operations.

#include <aqueduct/c/endpoint.h>

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/// For aq_wait: the case that the operation was not over at the call.
aq_status aq_wait_slowly(aq_endpoint* ep, aq_event* event);

/// Whether the operation is over. Makes no progress; an acquire load.
static inline bool aq_done(const aq_event* event) {
#ifdef AQUEDUCT_CHECKED
  if (event == NULL) return true;  // a wait refuses it
#endif
  if (event->word == NULL || ((uintptr_t)event->word & 1) != 0) return true;
  return __atomic_load_n((const uint32_t*)event->word, __ATOMIC_ACQUIRE) != 0;
}
/// Waits until the event is done, and returns the outcome of its operation. The event is then finished and may be
/// waited for again, with the same outcome.
///
/// Errors: those of the operation; AQ_IN_HANDLER (the event is unchanged).
AQ_MUST_USE static inline aq_status aq_wait(aq_endpoint* ep, aq_event* event) {
#ifdef AQUEDUCT_CHECKED
  if (event == NULL) return aq_wait_slowly(ep, event);
#endif
  if (__builtin_expect(event->word == NULL, 1)) return aq_success();
  return aq_wait_slowly(ep, event);
}
/// As aq_wait, for at most `limit` nanoseconds. Errors: also AQ_TIMED_OUT (the event is unchanged).
aq_status aq_wait_for(aq_endpoint* ep, aq_event* event, int64_t limit) AQ_MUST_USE;
/// Whether the event is done, after one round of progress if it was not.
static inline bool aq_test(aq_endpoint* ep, const aq_event* event) {
  if (aq_done(event)) return true;
  (void)aq_progress(ep);
  return aq_done(event);
}

/// Waits for all the events. Returns the first failure by index, if any. Errors: also AQ_IN_HANDLER (unfinished events
/// are unchanged).
aq_status aq_wait_all(aq_endpoint* ep, aq_event* events, size_t count) AQ_MUST_USE;
/// Waits until one of the events is done, and gives the lowest index of such an event. An event that was waited for
/// before is done too: take it out of the array.
///
/// Errors: AQ_TIMED_OUT, AQ_IN_HANDLER, AQ_INVALID_ARGUMENT (no events).
aq_status aq_wait_any(aq_endpoint* ep, const aq_event* events, size_t count, int64_t limit,
                      size_t* index) AQ_MUST_USE;

/// Called with the outcome of an operation, by progress, after the handlers. It must not wait.
typedef void (*aq_continuation)(void* context, aq_status outcome);
/// Runs `run` once the operation is over. The event is given up: it is finished afterwards.
///
/// Errors: AQ_REFUSED (AQUEDUCT_OPERATIONS are held; nothing has happened), AQ_INVALID_ARGUMENT (no function).
aq_status aq_then(aq_endpoint* ep, aq_event* event, aq_continuation run, void* context) AQ_MUST_USE;

/// Waits for all _nbi operations outside regions and groups; whether they are over, after one round of progress.
aq_status aq_wait_implicit(aq_endpoint* ep) AQ_MUST_USE;
bool aq_test_implicit(aq_endpoint* ep);
/// Opens and closes an access region: the _nbi operations between the two belong to the event.
aq_status aq_begin_region(aq_endpoint* ep) AQ_MUST_USE;
aq_event aq_end_region(aq_endpoint* ep) AQ_MUST_USE;

#ifdef __cplusplus
}
#endif
