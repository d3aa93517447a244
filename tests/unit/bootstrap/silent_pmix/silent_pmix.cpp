// A libpmix for tests whose server does not answer: PMIx_Init never returns, or PMIx_Get_nb never reports what another
// process has stored, as SILENT_PMIX says.

#include <pmix.h>

#include <cstdlib>
#include <cstring>
#include <string_view>

#include <unistd.h>

namespace {

bool silent(std::string_view in) {
  const char* const where = std::getenv("SILENT_PMIX");
  return where != nullptr && where == in;
}

}  // namespace

extern "C" {

pmix_status_t PMIx_Init(pmix_proc_t* me, pmix_info_t*, size_t) {
  if (silent("init")) {
    for (;;) ::pause();
  }
  std::strcpy(me->nspace, "job");
  me->rank = 0;
  return PMIX_SUCCESS;
}
pmix_status_t PMIx_Finalize(const pmix_info_t*, size_t) { return PMIX_SUCCESS; }
int PMIx_Initialized(void) { return 1; }
pmix_status_t PMIx_Abort(int, const char*, pmix_proc_t*, size_t) { return PMIX_SUCCESS; }
pmix_status_t PMIx_Put(pmix_scope_t, const char*, pmix_value_t*) { return PMIX_SUCCESS; }
pmix_status_t PMIx_Commit(void) { return PMIX_SUCCESS; }
pmix_status_t PMIx_Fence_nb(const pmix_proc_t*, size_t, const pmix_info_t*, size_t, pmix_op_cbfunc_t then,
                            void* argument) {
  then(PMIX_SUCCESS, argument);
  return PMIX_SUCCESS;
}
pmix_status_t PMIx_Get_nb(const pmix_proc_t*, const char* key, const pmix_info_t*, size_t,
                          pmix_value_cbfunc_t then, void* argument) {
  if (std::strcmp(key, PMIX_JOB_SIZE) == 0) {
    pmix_value_t two{};
    two.type = PMIX_UINT32;
    two.data.uint32 = 2;
    then(PMIX_SUCCESS, &two, argument);
  } else if (std::strncmp(key, "pmix.", 5) == 0) {
    then(PMIX_ERR_NOT_FOUND, nullptr, argument);
  }
  return PMIX_SUCCESS;  // of all else the server says nothing
}
pmix_status_t PMIx_Register_event_handler(pmix_status_t*, size_t, pmix_info_t*, size_t,
                                          pmix_notification_fn_t, pmix_hdlr_reg_cbfunc_t then,
                                          void* argument) {
  if (then != nullptr) then(PMIX_SUCCESS, 0, argument);
  return PMIX_SUCCESS;
}
pmix_status_t PMIx_Deregister_event_handler(size_t, pmix_op_cbfunc_t, void*) { return PMIX_SUCCESS; }
const char* PMIx_Error_string(pmix_status_t) { return "silent"; }
const char* PMIx_Get_version(void) { return "a silent PMIx"; }
}
