#pragma once

// The C face of aqueduct/signal.hpp: counters of a rank that others add to, and puts that announce themselves.

#include <aqueduct/c/event.h>

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Adds to counter `slot` of rank `to`.
aq_status aq_signal(aq_endpoint* ep, uint32_t to, uint32_t slot, uint64_t add) AQ_MUST_USE;
aq_event aq_signal_nb(aq_endpoint* ep, uint32_t to, uint32_t slot, uint64_t add) AQ_MUST_USE;

/// Writes `from`, then adds to a counter of the same rank: who sees the sum sees the bytes.
aq_status aq_put_signal(aq_endpoint* ep, aq_ptr to, const void* from, size_t bytes, uint32_t slot,
                        uint64_t add) AQ_MUST_USE;
aq_event aq_put_signal_nb(aq_endpoint* ep, aq_ptr to, const void* from, size_t bytes, uint32_t slot,
                          uint64_t add, const aq_options* options) AQ_MUST_USE;
aq_status aq_put_signal_nbi(aq_endpoint* ep, aq_ptr to, const void* from, size_t bytes, uint32_t slot,
                            uint64_t add, const aq_options* options) AQ_MUST_USE;

/// What a signal does to a word: adds to it, or sets it.
enum aq_signal_op { AQ_SIGNAL_ADD, AQ_SIGNAL_SET };
/// The same to any aligned 64-bit word of a segment of that rank. Errors: also AQ_INVALID_ARGUMENT, AQ_MISALIGNED.
aq_status aq_put_signal_word(aq_endpoint* ep, aq_ptr to, const void* from, size_t bytes, aq_ptr word,
                             uint64_t value, int op) AQ_MUST_USE;
aq_event aq_put_signal_word_nb(aq_endpoint* ep, aq_ptr to, const void* from, size_t bytes, aq_ptr word,
                               uint64_t value, int op, const aq_options* options) AQ_MUST_USE;
aq_status aq_put_signal_word_nbi(aq_endpoint* ep, aq_ptr to, const void* from, size_t bytes, aq_ptr word,
                                 uint64_t value, int op, const aq_options* options) AQ_MUST_USE;

/// The value of my counter: an acquire load. 0 if there is no such slot.
uint64_t aq_signal_value(aq_endpoint* ep, uint32_t slot);
/// Sets my counter. Requires: no rank is adding to it.
aq_status aq_reset_signal(aq_endpoint* ep, uint32_t slot, uint64_t value) AQ_MUST_USE;
/// Whether my counter has reached `at_least`, after at most one round of progress.
bool aq_test_signal(aq_endpoint* ep, uint32_t slot, uint64_t at_least);
/// Waits for at most `limit` nanoseconds until my counter has reached `at_least`. `from` is the rank that is expected
/// to signal: its loss ends the wait; with AQ_ANY_RANK, that of any rank.
aq_status aq_wait_signal(aq_endpoint* ep, uint32_t slot, uint64_t at_least, uint32_t from,
                         int64_t limit) AQ_MUST_USE;

#ifdef __cplusplus
}
#endif
