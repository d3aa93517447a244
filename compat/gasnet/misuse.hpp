#pragma once

#include "compat/gasnet/state.hpp"

#include <cstddef>

// What the specification leaves undefined, and checked builds of the library name. Those of calls that are inline in the client are
// declared in its headers.

namespace aqueduct::gasnet {

/// What the checks of all builds of the library share: inline functions of a checked client's call them too.
namespace checks {
void check_context(const char* call);
void check_reply(const char* call);
void check_endpoints(const char* call, gex_TM_t tm, gex_Rank_t rank, gex_EP_Capabilities_t needed);
}  // namespace checks

#ifdef AQUEDUCT_CHECKED
/// Ends the job if this thread may not communicate, poll or sync events now: a handler runs, a lock is held, a payload is prepared.
inline void check_context(const char* call) { checks::check_context(call); }
/// The same for replies.
inline void check_reply(const char* call) { checks::check_reply(call); }
/// The same for requests, and if an endpoint of a pair was not created for messages.
inline void check_request(const char* call, gex_TM_t tm, gex_Rank_t rank) {
  checks::check_context(call);
  checks::check_endpoints(call, tm, rank, GEX_EP_CAPABILITY_AM);
}
/// Ends the job if an access region is open: what is in it can be synced only when it is closed.
void check_no_region(const char* call);
/// Ends the job if `lc_opt` is one that messages do not have.
void check_local_completion(const char* call, const gex_Event_t* lc_opt, bool is_request);
/// Ends the job if a reduction's elements are not those of its type. There may be none.
void check_elements(const char* call, gex_DT_t type, std::size_t bytes, gex_OP_t op, bool has_function);
#else
inline void check_context(const char*) {}
inline void check_reply(const char*) {}
inline void check_request(const char*, gex_TM_t, gex_Rank_t) {}
inline void check_no_region(const char*) {}
inline void check_local_completion(const char*, const gex_Event_t*, bool) {}
inline void check_elements(const char*, gex_DT_t, std::size_t, gex_OP_t, bool) {}
#endif

}  // namespace aqueduct::gasnet
