#pragma once

// The C face of aqueduct/order.hpp.

#include <aqueduct/c/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Orders what this rank does to rank `peer`: what was begun before the fence takes effect there before what is begun
/// after it. Never waits. AQ_ANY_RANK: for every rank.
aq_status aq_fence(aq_endpoint* ep, uint32_t peer) AQ_MUST_USE;

#ifdef __cplusplus
}
#endif
