#pragma once

// The C face of aqueduct/am_prepared.hpp: negotiated payloads. Room is asked for, filled, and sent or given back.

#include <aqueduct/c/am_raw.h>

#ifdef __cplusplus
extern "C" {
#endif

/// How large a payload may be, and in whose memory it is.
typedef struct aq_bounds {
  size_t least;     ///< less room is of no use: AQ_TOO_LARGE
  size_t most;      ///< more room is of no use
  const void* own;  ///< the caller's buffer; null: the library lends one
  size_t own_bytes;
} aq_bounds;

/// The room for one payload, of a request or a reply. It does not move: do not copy it. All zero is none.
typedef struct aq_prepared {
  uint64_t storage[7];  ///< for the library
} aq_prepared;

/// Ask for the room of a request's payload. `prepared` need not be initialised; on failure it is none. Never waits.
/// `immediate` of the options holds for the commit: it returns AQ_REFUSED instead of waiting. The other options are those
/// of the commit; here they change nothing.
///
/// Errors: AQ_TOO_LARGE, AQ_INVALID_ARGUMENT, AQ_OUT_OF_RANGE, AQ_REFUSED (AQUEDUCT_PREPARED are in use), AQ_PEER_LOST,
///         AQ_NO_MEMORY.
aq_status aq_prepare_medium(aq_endpoint* ep, uint32_t to, const aq_bounds* bounds, const aq_options* options,
                            aq_prepared* prepared) AQ_MUST_USE;
aq_status aq_prepare_long(aq_endpoint* ep, aq_ptr to, const aq_bounds* bounds, const aq_options* options,
                          aq_prepared* prepared) AQ_MUST_USE;
/// The same for a place that aq_prepared_place names later.
aq_status aq_prepare_long_anywhere(aq_endpoint* ep, uint32_t to, const aq_bounds* bounds,
                                   const aq_options* options, aq_prepared* prepared) AQ_MUST_USE;
/// The same for a reply, in the handler of a request. It is committed or cancelled before the handler returns.
aq_status aq_prepare_reply_medium(const aq_incoming* incoming, const aq_bounds* bounds,
                                  aq_prepared* prepared) AQ_MUST_USE;
aq_status aq_prepare_reply_long(const aq_incoming* incoming, aq_ptr to, const aq_bounds* bounds,
                                aq_prepared* prepared) AQ_MUST_USE;
aq_status aq_prepare_reply_long_anywhere(const aq_incoming* incoming, const aq_bounds* bounds,
                                         aq_prepared* prepared) AQ_MUST_USE;

/// The room in bytes, and the lent buffer (null if the caller has its own). 0 and null after a commit or cancel.
size_t aq_prepared_size(const aq_prepared* prepared);
void* aq_prepared_buffer(aq_prepared* prepared);
/// Names the place of a long payload that was prepared without one.
aq_status aq_prepared_place(aq_prepared* prepared, aq_ptr place) AQ_MUST_USE;
/// Gives the room back; nothing is sent. Does nothing if it is none.
void aq_cancel(aq_prepared* prepared);

/// Send the first `used` bytes to call->handler; in a space, to call->number. After a failure it may be committed
/// again, or cancelled. `options` may be null, and is not used for a reply.
///
/// Errors: as those of requests and replies; AQ_TOO_LARGE (`used` exceeds the room), AQ_INVALID_ARGUMENT (it is none,
///         or a long payload without a place), AQ_WRONG_HANDLER (also: aq_commit of a reply to a raw request, or
///         aq_commit_raw of a reply to a plain one). aq_commit_raw of a reply answers in the request's space: `space` may be
///         null.
aq_status aq_commit(aq_prepared* prepared, const aq_call* call, size_t used,
                    const aq_options* options) AQ_MUST_USE;
aq_status aq_commit_raw(aq_prepared* prepared, const aq_space* space, const aq_call* call, size_t used,
                        const aq_options* options) AQ_MUST_USE;

#ifdef __cplusplus
}
#endif
