#pragma once

// The C face of Endpoint::wait_until, Endpoint::progress_for and aqueduct/wait_on.hpp: waits for anything. `limit` is
// in nanoseconds. A lost rank ends a wait only if `from` names it, or is AQ_ANY_RANK; with AQ_NO_RANK none does.

#include <aqueduct/c/types.h>

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Waits until `predicate(context)` is true. It may start and test operations, but not wait.
///
/// Errors: AQ_TIMED_OUT, AQ_PEER_LOST, AQ_IN_HANDLER, AQ_OUT_OF_RANGE, AQ_INVALID_ARGUMENT (no predicate).
aq_status aq_wait_until(aq_endpoint* ep, bool (*predicate)(void* context), void* context, int64_t limit,
                        uint32_t from) AQ_MUST_USE;
/// Makes progress, and sleeps until something arrives. Errors: AQ_TIMED_OUT, AQ_IN_HANDLER.
aq_status aq_progress_for(aq_endpoint* ep, int64_t limit) AQ_MUST_USE;

/// How a wait compares a word with a value.
enum aq_comparison { AQ_EQUAL, AQ_NOT_EQUAL, AQ_LESS, AQ_LESS_EQUAL, AQ_GREATER, AQ_GREATER_EQUAL };

/// Waits until a word of my part of a segment compares with `value` as `how` says.
///
/// Errors: AQ_MISALIGNED, AQ_OUT_OF_RANGE, AQ_TIMED_OUT, AQ_PEER_LOST, AQ_IN_HANDLER, AQ_INVALID_ARGUMENT (no such
///         comparison).
aq_status aq_wait_on_i32(aq_endpoint* ep, aq_ptr word, int how, int32_t value, int64_t limit,
                         uint32_t from) AQ_MUST_USE;
aq_status aq_wait_on_u32(aq_endpoint* ep, aq_ptr word, int how, uint32_t value, int64_t limit,
                         uint32_t from) AQ_MUST_USE;
aq_status aq_wait_on_i64(aq_endpoint* ep, aq_ptr word, int how, int64_t value, int64_t limit,
                         uint32_t from) AQ_MUST_USE;
aq_status aq_wait_on_u64(aq_endpoint* ep, aq_ptr word, int how, uint64_t value, int64_t limit,
                         uint32_t from) AQ_MUST_USE;
/// Whether it does, after at most one round of progress. Errors: as above, without those of a wait.
aq_status aq_test_on_i32(aq_endpoint* ep, aq_ptr word, int how, int32_t value, bool* holds) AQ_MUST_USE;
aq_status aq_test_on_u32(aq_endpoint* ep, aq_ptr word, int how, uint32_t value, bool* holds) AQ_MUST_USE;
aq_status aq_test_on_i64(aq_endpoint* ep, aq_ptr word, int how, int64_t value, bool* holds) AQ_MUST_USE;
aq_status aq_test_on_u64(aq_endpoint* ep, aq_ptr word, int how, uint64_t value, bool* holds) AQ_MUST_USE;

#ifdef __cplusplus
}
#endif
