// Memory kinds: only host memory.

#include "compat/gasnet/misuse.hpp"
#include "compat/gasnet/state.hpp"

#include <gasnet_mk.h>

using namespace aqueduct::gasnet;

extern "C" int gex_MK_Create(gex_MK_t* kind_p, gex_Client_t client, const gex_MK_Create_args_t* args,
                             gex_Flags_t flags) {
  const char* const call = "gex_MK_Create";
  check_context(call);
  if (kind_p == nullptr || client != &state().client || args == nullptr || args->gex_flags != 0 ||
      flags != 0) {
    return error(GASNET_ERR_BAD_ARG, call,
                 "no client, no arguments, no place for the result, or flags are set");
  }
  if (args->gex_class == GEX_MK_CLASS_HOST)
    return error(GASNET_ERR_BAD_ARG, call, "host memory has the kind GEX_MK_HOST");
  return error(GASNET_ERR_BAD_ARG, call, "memory of devices is not supported");
}
extern "C" void gex_MK_Destroy(gex_MK_t, gex_Flags_t) {
  // No kind has been created, so none can be destroyed.
  fail("gex_MK_Destroy",
       "the kind was not made by gex_MK_Create: GEX_MK_HOST and GEX_MK_INVALID stay as they are");
}
