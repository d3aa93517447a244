#pragma once

// The C face of aqueduct/group.hpp. An operation joins the group that aq_options::group names.

#include <aqueduct/c/types.h>

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Errors: AQ_NO_MEMORY.
aq_status aq_group_create(aq_endpoint* ep, aq_group** group) AQ_MUST_USE;
/// Requires: its operations are over. `group` may be null.
void aq_group_destroy(aq_group* group);

/// Whether all operations that joined are over; whether all source buffers that count with the group are free.
bool aq_group_done(const aq_group* group);
bool aq_group_source_done(const aq_group* group);
/// The same, after one round of progress if it is false.
bool aq_group_test(aq_group* group);
bool aq_group_test_source(aq_group* group);
/// Waits for at most `limit` nanoseconds until the operations are over. Returns the first failure among them.
aq_status aq_group_wait(aq_group* group, int64_t limit) AQ_MUST_USE;
/// Waits until the source buffers are free.
aq_status aq_group_wait_source(aq_group* group) AQ_MUST_USE;
/// The number of operations in flight, and of source buffers that are not free.
uint32_t aq_group_in_flight(const aq_group* group);
uint32_t aq_group_sources_in_flight(const aq_group* group);

#ifdef __cplusplus
}
#endif
