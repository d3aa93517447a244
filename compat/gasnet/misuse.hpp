#pragma once

#include "compat/gasnet/state.hpp"

#include <cstddef>

// What the specification leaves undefined, and checked builds of the library name. Those of calls that are inline in the client are
// declared in its headers.

namespace aqueduct::gasnet {

#ifdef AQUEDUCT_CHECKED
/// Ends the job if an access region is open: what is in it can be synced only when it is closed.
void check_no_region(const char* call);
/// Ends the job if `lc_opt` is one that messages do not have.
void check_local_completion(const char* call, const gex_Event_t* lc_opt, bool is_request);
/// Ends the job if a reduction's elements are not those of its type. There may be none.
void check_elements(const char* call, gex_DT_t type, std::size_t bytes, gex_OP_t op, bool has_function);
#else
inline void check_no_region(const char*) {}
inline void check_local_completion(const char*, const gex_Event_t*, bool) {}
inline void check_elements(const char*, gex_DT_t, std::size_t, gex_OP_t, bool) {}
#endif

}  // namespace aqueduct::gasnet
