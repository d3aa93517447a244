#pragma once
#if defined(__cplusplus) && __cplusplus < 201103L
#pragma GCC system_header  // C++98 has no macros with variable or empty arguments, as -pedantic says
#endif

// Collectives: GASNet-EX's, and GASNet-1's of the team of all ranks.

#include <gasnetex.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef void (*gex_Coll_ReduceFn_t)(const void* arg1, void* arg2_and_out, size_t count, const void* cdata);

gex_Event_t gex_Coll_BroadcastNB(gex_TM_t tm, gex_Rank_t root, void* dst, const void* src, size_t nbytes,
                                 gex_Flags_t flags);
gex_Event_t gex_Coll_ReduceToOneNB(gex_TM_t tm, gex_Rank_t root, void* dst, const void* src, gex_DT_t dt,
                                   size_t dt_sz, size_t dt_cnt, gex_OP_t op, gex_Coll_ReduceFn_t user_op,
                                   void* user_cdata, gex_Flags_t flags);
gex_Event_t gex_Coll_ReduceToAllNB(gex_TM_t tm, void* dst, const void* src, gex_DT_t dt, size_t dt_sz,
                                   size_t dt_cnt, gex_OP_t op, gex_Coll_ReduceFn_t user_op, void* user_cdata,
                                   gex_Flags_t flags);

// GASNet-1's, which its releases declare without documenting. Only GASNET_TEAM_ALL.

typedef gex_Event_t gasnet_coll_handle_t;
typedef struct aqg_legacy_team* gasnet_team_handle_t;
typedef gasnet_team_handle_t gasnet_coll_team_handle_t;
typedef uint32_t gasnet_image_t;
#define GASNET_COLL_INVALID_HANDLE GEX_EVENT_INVALID
#define GASNET_TEAM_ALL ((gasnet_team_handle_t)0)

#define GASNET_COLL_IN_NOSYNC (1 << 0)
#define GASNET_COLL_IN_MYSYNC (1 << 1)
#define GASNET_COLL_IN_ALLSYNC (1 << 2)
#define GASNET_COLL_OUT_NOSYNC (1 << 3)
#define GASNET_COLL_OUT_MYSYNC (1 << 4)
#define GASNET_COLL_OUT_ALLSYNC (1 << 5)
#define GASNET_COLL_SINGLE (1 << 6)
#define GASNET_COLL_LOCAL (1 << 7)
#define GASNET_COLL_AGGREGATE (1 << 8)
#define GASNET_COLL_DST_IN_SEGMENT (1 << 9)
#define GASNET_COLL_SRC_IN_SEGMENT (1 << 10)
#define GASNET_COLL_NO_IMAGES (1 << 19)
// Of the functions of reductions, which this layer does not have.
#define GASNET_COLL_AMSAFE (1 << 0)

void gasnet_coll_init(const gasnet_image_t images[], gasnet_image_t my_image, void* fn_tbl, size_t fn_count,
                      int flags);
#define AQG_DEFINE_COLL(name, ...)                                \
  void gasnet_coll_##name(gasnet_team_handle_t team, __VA_ARGS__); \
  gasnet_coll_handle_t gasnet_coll_##name##_nb(gasnet_team_handle_t team, __VA_ARGS__);
AQG_DEFINE_COLL(broadcast, void* dst, gasnet_image_t srcimage, void* src, size_t nbytes, int flags)
AQG_DEFINE_COLL(scatter, void* dst, gasnet_image_t srcimage, void* src, size_t nbytes, int flags)
AQG_DEFINE_COLL(gather, gasnet_image_t dstimage, void* dst, void* src, size_t nbytes, int flags)
AQG_DEFINE_COLL(gather_all, void* dst, void* src, size_t nbytes, int flags)
AQG_DEFINE_COLL(exchange, void* dst, void* src, size_t nbytes, int flags)
#undef AQG_DEFINE_COLL
/// Returns GASNET_OK or GASNET_ERR_NOT_READY.
int gasnet_coll_try_sync(gasnet_coll_handle_t handle);
void gasnet_coll_wait_sync(gasnet_coll_handle_t handle);
#define gasnet_coll_try_sync_some(handles, count) gex_Event_TestSome(handles, count, 0)
#define gasnet_coll_try_sync_all(handles, count) gex_Event_TestAll(handles, count, 0)
#define gasnet_coll_wait_sync_some(handles, count) gex_Event_WaitSome(handles, count, 0)
#define gasnet_coll_wait_sync_all(handles, count) gex_Event_WaitAll(handles, count, 0)
void gasnet_coll_barrier_notify(gasnet_team_handle_t team, int id, int flags);
int gasnet_coll_barrier_wait(gasnet_team_handle_t team, int id, int flags);
int gasnet_coll_barrier_try(gasnet_team_handle_t team, int id, int flags);
int gasnet_coll_barrier(gasnet_team_handle_t team, int id, int flags);
int gasnet_coll_barrier_result(gasnet_team_handle_t team, int* id);

// The tuner of GASNet's collectives: nothing is read or written.
#define gasnet_coll_dumpTuningState(file, team) ((void)0)
#define gasnet_coll_loadTuningState(file, team) ((void)0)
#define gasnet_coll_dumpProfile(file, team) ((void)0)
#define gasnet_coll_set_dissem_limit(team, limit) ((void)0)

#ifdef __cplusplus
}
#endif
