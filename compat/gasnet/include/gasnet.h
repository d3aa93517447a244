#pragma once
#if defined(__cplusplus) && __cplusplus < 201103L
#pragma GCC system_header  // C++98 has no macros with variable or empty arguments, as -pedantic says
#endif

// GASNet-1 (specification 1.8) in terms of GASNet-EX.

#define _INCLUDED_GASNET_H 1
#include <gasnetex.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef gex_Rank_t gasnet_node_t;
typedef gex_Event_t gasnet_handle_t;
typedef gex_Token_t gasnet_token_t;
typedef gex_AM_Index_t gasnet_handler_t;
typedef gex_AM_Arg_t gasnet_handlerarg_t;
typedef gex_RMA_Value_t gasnet_register_value_t;
typedef gex_HSL_t gasnet_hsl_t;
typedef struct {
  void* addr;
  size_t len;
} gasnet_memvec_t;
typedef struct {
  gasnet_handler_t index;
  gex_AM_Fn_t fnptr;
} gasnet_handlerentry_t;
typedef struct aqg_value_in_flight* gasnet_valget_handle_t;
#define SIZEOF_GASNET_REGISTER_VALUE_T SIZEOF_GEX_RMA_VALUE_T
#define GASNET_INVALID_HANDLE GEX_EVENT_INVALID
#define GASNET_HSL_INITIALIZER GEX_HSL_INITIALIZER

extern gex_TM_t aqg_world_tm;

int aqg_init_seq(int* argc, char*** argv);
int aqg_init_parsync(int* argc, char*** argv);
int aqg_init_par(int* argc, char*** argv);
static inline int gasnet_init(int* argc, char*** argv) {
  const int fits = aqg_of_layout(AQG_LAYOUT, AQ_LAYOUT);
  return fits == GASNET_OK ? AQG_OF_MODE(aqg_init)(argc, argv) : fits;
}
int gasnet_attach(gasnet_handlerentry_t* table, int numentries, uintptr_t segsize, uintptr_t minheapoffset);
void gasnet_QueryGexObjects(gex_Client_t* client_p, gex_EP_t* endpoint_p, gex_TM_t* tm_p, gex_Segment_t* segment_p);
static inline gasnet_node_t gasnet_mynode(void) { return gex_System_QueryJobRank(); }
static inline gasnet_node_t gasnet_nodes(void) { return gex_System_QueryJobSize(); }
#define gasneti_mynode gex_System_QueryJobRank()
#define gasneti_nodes gex_System_QueryJobSize()

static inline void gasnet_hold_interrupts(void) {}
static inline void gasnet_resume_interrupts(void) {}
#define gasnet_hsl_init gex_HSL_Init
#define gasnet_hsl_destroy gex_HSL_Destroy
#define gasnet_hsl_lock gex_HSL_Lock
#define gasnet_hsl_unlock gex_HSL_Unlock
#define gasnet_hsl_trylock gex_HSL_Trylock

static inline size_t gasnet_AMMaxArgs(void) { return gex_AM_MaxArgs(); }
static inline size_t gasnet_AMMaxMedium(void) {
  const size_t request = gex_AM_LUBRequestMedium(), reply = gex_AM_LUBReplyMedium();
  return request < reply ? request : reply;
}
static inline size_t gasnet_AMMaxLongRequest(void) { return gex_AM_LUBRequestLong(); }
static inline size_t gasnet_AMMaxLongReply(void) { return gex_AM_LUBReplyLong(); }
int gasnet_AMGetMsgSource(gasnet_token_t token, gasnet_node_t* srcindex);

#include <aqueduct_gasnet/legacy_messages.h>

// ------------------------------------------------------------------------------------------- puts and gets

static inline void gasnet_get(void* dest, gasnet_node_t node, void* src, size_t nbytes) {
  (void)gex_RMA_GetBlocking(aqg_world_tm, dest, node, src, nbytes, 0);
}
static inline void gasnet_put(gasnet_node_t node, void* dest, const void* src, size_t nbytes) {
  (void)gex_RMA_PutBlocking(aqg_world_tm, node, dest, src, nbytes, 0);
}
#define gasnet_get_bulk gasnet_get
#define gasnet_put_bulk gasnet_put
static inline gasnet_handle_t gasnet_get_nb(void* dest, gasnet_node_t node, void* src, size_t nbytes) {
  return gex_RMA_GetNB(aqg_world_tm, dest, node, src, nbytes, 0);
}
#define gasnet_get_nb_bulk gasnet_get_nb
static inline gasnet_handle_t gasnet_put_nb(gasnet_node_t node, void* dest, const void* src, size_t nbytes) {
  return gex_RMA_PutNB(aqg_world_tm, node, dest, src, nbytes, GEX_EVENT_NOW, 0);
}
static inline gasnet_handle_t gasnet_put_nb_bulk(gasnet_node_t node, void* dest, const void* src, size_t nbytes) {
  return gex_RMA_PutNB(aqg_world_tm, node, dest, src, nbytes, GEX_EVENT_DEFER, 0);
}
static inline void gasnet_get_nbi(void* dest, gasnet_node_t node, void* src, size_t nbytes) {
  (void)gex_RMA_GetNBI(aqg_world_tm, dest, node, src, nbytes, 0);
}
#define gasnet_get_nbi_bulk gasnet_get_nbi
static inline void gasnet_put_nbi(gasnet_node_t node, void* dest, const void* src, size_t nbytes) {
  (void)gex_RMA_PutNBI(aqg_world_tm, node, dest, src, nbytes, GEX_EVENT_NOW, 0);
}
static inline void gasnet_put_nbi_bulk(gasnet_node_t node, void* dest, const void* src, size_t nbytes) {
  (void)gex_RMA_PutNBI(aqg_world_tm, node, dest, src, nbytes, GEX_EVENT_DEFER, 0);
}
void gasnet_memset(gasnet_node_t node, void* dest, int val, size_t nbytes);
static inline gasnet_handle_t gasnet_memset_nb(gasnet_node_t node, void* dest, int val, size_t nbytes) {
  gasnet_memset(node, dest, val, nbytes);
  return GASNET_INVALID_HANDLE;
}
static inline void gasnet_memset_nbi(gasnet_node_t node, void* dest, int val, size_t nbytes) {
  gasnet_memset(node, dest, val, nbytes);
}

static inline void gasnet_put_val(gasnet_node_t node, void* dest, gasnet_register_value_t value, size_t nbytes) {
  (void)gex_RMA_PutBlockingVal(aqg_world_tm, node, dest, value, nbytes, 0);
}
static inline gasnet_handle_t gasnet_put_nb_val(gasnet_node_t node, void* dest, gasnet_register_value_t value,
                                                size_t nbytes) {
  return gex_RMA_PutNBVal(aqg_world_tm, node, dest, value, nbytes, 0);
}
static inline void gasnet_put_nbi_val(gasnet_node_t node, void* dest, gasnet_register_value_t value,
                                      size_t nbytes) {
  (void)gex_RMA_PutNBIVal(aqg_world_tm, node, dest, value, nbytes, 0);
}
static inline gasnet_register_value_t gasnet_get_val(gasnet_node_t node, void* src, size_t nbytes) {
  return gex_RMA_GetBlockingVal(aqg_world_tm, node, src, nbytes, 0);
}
gasnet_valget_handle_t gasnet_get_nb_val(gasnet_node_t node, void* src, size_t nbytes);
gasnet_register_value_t gasnet_wait_syncnb_valget(gasnet_valget_handle_t handle);

// ------------------------------------------------------------------------------------------- completion

static inline void gasnet_wait_syncnb(gasnet_handle_t handle) { gex_Event_Wait(handle); }
static inline void gasnet_wait_syncnb_some(gasnet_handle_t* handles, size_t count) {
  gex_Event_WaitSome(handles, count, 0);
}
static inline void gasnet_wait_syncnb_all(gasnet_handle_t* handles, size_t count) {
  gex_Event_WaitAll(handles, count, 0);
}
static inline int gasnet_try_syncnb(gasnet_handle_t handle) {
  (void)gasnet_AMPoll();
  return gex_Event_Test(handle) ? GASNET_ERR_NOT_READY : GASNET_OK;
}
static inline int gasnet_try_syncnb_some(gasnet_handle_t* handles, size_t count) {
  (void)gasnet_AMPoll();
  return gex_Event_TestSome(handles, count, 0) ? GASNET_ERR_NOT_READY : GASNET_OK;
}
static inline int gasnet_try_syncnb_all(gasnet_handle_t* handles, size_t count) {
  (void)gasnet_AMPoll();
  return gex_Event_TestAll(handles, count, 0) ? GASNET_ERR_NOT_READY : GASNET_OK;
}
#define gasnet_try_syncnb_nopoll(handle) gex_Event_Test(handle)
#define gasnet_try_syncnb_some_nopoll(handles, count) gex_Event_TestSome(handles, count, 0)
#define gasnet_try_syncnb_all_nopoll(handles, count) gex_Event_TestAll(handles, count, 0)
#define AQG_LEGACY_NBI(what, categories)                                             \
  static inline void gasnet_wait_syncnbi_##what(void) { gex_NBI_Wait(categories, 0); } \
  static inline int gasnet_try_syncnbi_##what(void) {                                \
    (void)gasnet_AMPoll();                                                           \
    return gex_NBI_Test(categories, 0) ? GASNET_ERR_NOT_READY : GASNET_OK;           \
  }
AQG_LEGACY_NBI(gets, GEX_EC_GET)
AQG_LEGACY_NBI(puts, GEX_EC_PUT)
AQG_LEGACY_NBI(all, GEX_EC_ALL)  // also what a client has begun by gex_… calls
#undef AQG_LEGACY_NBI
static inline void gasnet_begin_nbi_accessregion(void) { gex_NBI_BeginAccessRegion(0); }
static inline gasnet_handle_t gasnet_end_nbi_accessregion(void) { return gex_NBI_EndAccessRegion(0); }

#ifdef __cplusplus
}
#endif

#ifdef GEX_VIS_MAX_PEERCOMPLETION
#include <aqueduct_gasnet/legacy_vis.h>
#endif
