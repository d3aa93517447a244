// The part of a library that depends on the threads of its clients: compiled once for each of the three libraries, with
// AQG_MODE and the macro of gasnetex.h.

#include "compat/gasnet/state.hpp"

#include <gasnet.h>

using namespace aqueduct;
using namespace aqueduct::gasnet;

namespace {

#if defined(GASNET_SEQ)
constexpr Threads kThreads = Threads::single;
#elif defined(GASNET_PARSYNC)
constexpr Threads kThreads = Threads::serialized;
#else
constexpr Threads kThreads = Threads::multiple;
#endif

}  // namespace

extern "C" int AQG_OF_MODE(aqg_client_init)(gex_Client_t* client_p, gex_EP_t* ep_p, gex_TM_t* tm_p,
                                            const char* name, int*, char***, gex_Flags_t flags) {
  if (client_p == nullptr || ep_p == nullptr || tm_p == nullptr || name == nullptr) {
    return error(GASNET_ERR_BAD_ARG, "gex_Client_Init", "an output or the name is null");
  }
  if (const int code = start(kThreads, name, flags); code != GASNET_OK) return code;
  *client_p = &state().client;
  *ep_p = state().endpoints[0].get();
  *tm_p = state().world;
  return GASNET_OK;
}
extern "C" int AQG_OF_MODE(aqg_init)(int*, char***) {
  return start(kThreads, "LEGACY", GEX_FLAG_USES_GASNET1);
}
