#pragma once
#if defined(__cplusplus) && __cplusplus < 201103L
#pragma GCC system_header  // C++98 has no macros with variable or empty arguments, as -pedantic says
#endif

// GASNet-EX (specification 0.19) over Aqueduct. docs/gasnet.md says how a client is moved here, and what differs. The
// comments of this header say only what the specification leaves to an implementation.

#define _GASNETEX_H 1

#if defined(GASNET_SEQ) + defined(GASNET_PARSYNC) + defined(GASNET_PAR) != 1
#error "define exactly one of GASNET_SEQ, GASNET_PARSYNC and GASNET_PAR"
#endif
#if defined(GASNET_SEQ)
#undef GASNET_SEQ
#define GASNET_SEQ 1
#define AQG_THREAD_MODEL "SEQ"
#define AQG_OF_MODE(name) name##_seq
#elif defined(GASNET_PARSYNC)
#undef GASNET_PARSYNC
#define GASNET_PARSYNC 1
#define AQG_THREAD_MODEL "PARSYNC"
#define AQG_OF_MODE(name) name##_parsync
#else
#undef GASNET_PAR
#define GASNET_PAR 1
#define AQG_THREAD_MODEL "PAR"
#define AQG_OF_MODE(name) name##_par
#endif

#include <aqueduct_gasnet/configuration.h>
#include <gasnet_fwd.h>
#include <gasnet_tools.h>

#include <aqueduct/c/endpoint.h>
#include <aqueduct/c/words.h>

#include <errno.h>
#include <limits.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

// ------------------------------------------------------------------------------------------- what this is

#define GASNET_CONDUIT_AQUEDUCT 1
#define GASNET_AQUEDUCT_CONDUIT 1
#define GASNET_CONDUIT_NAME AQUEDUCT
#define GASNET_CONDUIT_NAME_STR "AQUEDUCT"
#define GASNET_CORE_NAME AQUEDUCT
#define GASNET_CORE_NAME_STR "AQUEDUCT"
#define GASNET_CORE_VERSION 0.1
#define GASNET_CORE_VERSION_STR "0.1"
#define GASNET_EXTENDED_NAME AQUEDUCT
#define GASNET_EXTENDED_NAME_STR "AQUEDUCT"
#define GASNET_EXTENDED_VERSION 0.1
#define GASNET_EXTENDED_VERSION_STR "0.1"
#define GASNET_CONFIG_STRING AQG_CONFIG_STRING("AQUEDUCT", AQG_THREAD_MODEL)
#define GASNET_NDEBUG 1
#define GASNET_PSHM 1
#define GASNET_SEGMENT_FAST 1
#define GASNET_ALIGNED_SEGMENTS 0
#define GASNET_MAXNODES 0x7fffffff
#define GASNET_MAXEPS 33
#define GASNET_NULL_ARGV_OK 1
#define GASNET_HAVE_MK_CLASS_HOST 1
#define GASNET_HIDDEN_AM_CONCURRENCY_LEVEL 0
#define GASNET_PAGESIZE GASNETT_PAGESIZE
#if defined(GASNET_SEQ)
#define GASNETT_MAX_THREADS 1
#else
#define GASNETT_MAX_THREADS 256
#endif
#define GASNETI_MAX_THREADS GASNETT_MAX_THREADS
#define GASNET_SUPPORTS_AM_COMMIT_V2 20240906L
#define GASNET_SUPPORTS_AM_CANCEL 20240418L
#define GASNET_SUPPORTS_TI_SRCRANK 1
#define GASNET_SUPPORTS_TI_EP 1
#define GASNET_SUPPORTS_TI_ENTRY 1
#define GASNET_SUPPORTS_TI_IS_REQ 1
#define GASNET_SUPPORTS_TI_IS_LONG 1
#define GASNET_NATIVE_NP_ALLOC_REQ_MEDIUM 1
#define GASNET_NATIVE_NP_ALLOC_REP_MEDIUM 1
#define GASNET_NATIVE_NP_ALLOC_REQ_LONG 1
#define GASNET_NATIVE_NP_ALLOC_REP_LONG 1

#define GASNET_OK 0
#define GASNET_ERR_NOT_INIT 10001
#define GASNET_ERR_RESOURCE 10002
#define GASNET_ERR_BAD_ARG 10003
#define GASNET_ERR_NOT_READY 10004
#define GASNET_ERR_BARRIER_MISMATCH 10005

#define GEX_AM_INDEX_BASE 128
#define SIZEOF_GEX_RMA_VALUE_T 8

#ifndef AQG_WITHOUT_TEXTS
AQG_TEXT(config, "Config: (libgasnet) " GASNET_CONFIG_STRING);
AQG_TEXT(conduit, "ConduitName: " GASNET_CONDUIT_NAME_STR);
AQG_TEXT(threads, "ThreadModel: GASNET_" AQG_THREAD_MODEL);
AQG_TEXT(segment, "Segment: GASNET_SEGMENT_FAST");
AQG_TEXT(api, "APIVersion: " AQG_STRINGIFY(GASNET_SPEC_VERSION_MAJOR));
AQG_TEXT(ex_api, "EXAPIVersion: " AQG_SPEC(GEX_SPEC_VERSION_MAJOR, GEX_SPEC_VERSION_MINOR));
AQG_TEXT(segment_limit, "DefaultMaxSegsizeStr: 0.85/H");
AQG_TEXT(core_name, "CoreLibraryName: " GASNET_CORE_NAME_STR);
AQG_TEXT(core_version, "CoreLibraryVersion: " GASNET_CORE_VERSION_STR);
AQG_TEXT(extended_name, "ExtendedLibraryName: " GASNET_EXTENDED_NAME_STR);
AQG_TEXT(extended_version, "ExtendedLibraryVersion: " GASNET_EXTENDED_VERSION_STR);
#endif

#ifdef __cplusplus
extern "C" {
#endif

// ------------------------------------------------------------------------------------------- types

typedef struct aqg_token* gex_Token_t;
typedef uint8_t gex_AM_Index_t;
typedef int32_t gex_AM_Arg_t;
#ifndef __cplusplus
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wstrict-prototypes"
#endif
typedef void (*gex_AM_Fn_t)();  // of any handler
#ifndef __cplusplus
#pragma GCC diagnostic pop
#endif
typedef uint64_t gex_RMA_Value_t;
typedef struct aqg_client* gex_Client_t;
typedef struct aqg_endpoint* gex_EP_t;
typedef struct aqg_segment* gex_Segment_t;
typedef struct aqg_team* gex_TM_t;
typedef struct aqg_kind* gex_MK_t;
typedef struct aqg_payload* gex_AM_SrcDesc_t;

#define GEX_CLIENT_INVALID ((gex_Client_t)0)
#define GEX_EP_INVALID ((gex_EP_t)0)
#define GEX_SEGMENT_INVALID ((gex_Segment_t)0)
#define GEX_TM_INVALID ((gex_TM_t)0)
#define GEX_AM_SRCDESC_NO_OP ((gex_AM_SrcDesc_t)0)
#define GEX_MK_INVALID ((gex_MK_t)0)
#define GEX_MK_HOST ((gex_MK_t)(uintptr_t)1)

typedef struct {
  void* gex_addr;
  size_t gex_len;
} gex_Memvec_t;

typedef struct {
  gex_Rank_t gex_rank;
  gex_EP_Index_t gex_ep_index;
} gex_EP_Location_t;

typedef const struct {
  gex_Rank_t gex_jobrank;
} gex_RankInfo_t;

typedef struct {
  gex_AM_Index_t gex_index;
  gex_AM_Fn_t gex_fnptr;
  gex_Flags_t gex_flags;
  unsigned int gex_nargs;
  const void* gex_cdata;
  const char* gex_name;
} gex_AM_Entry_t;

typedef struct {
  gex_Rank_t gex_srcrank;
  gex_EP_t gex_ep;
  const gex_AM_Entry_t* gex_entry;
  int gex_is_req;
  int gex_is_long;
} gex_Token_Info_t;

typedef struct {
  void* addr;
  uintptr_t size;
} gasnet_seginfo_t;

typedef struct {
  gex_Rank_t host;
  gex_Rank_t supernode;
  uintptr_t offset;  ///< to be added to an address of that rank's segment to reach it from here, in the same supernode
} gasnet_nodeinfo_t;

typedef struct {
  const char* gex_device_list;
  unsigned int gex_thread_roles;
  void* (*gex_progress_fn)(void*);
  void* gex_progress_arg;
} gex_ProgressThreadInfo_t;

/// Where an endpoint's bound segment is, for the inline functions: its first byte at its owner, and its place here.
struct aqg_place {
  uint64_t base;     ///< the address of the owner's part of Aqueduct's segment, in the owner's process
  uint32_t segment;  ///< the number of that segment; ~0u: none is known here
  uint32_t reserved;
  const aq_window* window;        ///< that part here; one that is always closed if none is known
  const aq_window* value_window;  ///< the same, for reading words
};
/// What is to be added to an address in the bound segment of a primordial endpoint to reach it here, plus one; 0: it is not mapped,
/// or the library has to do the access, or this process is a forked child.
struct aqg_shift {
  uintptr_t few;   ///< for puts of at most AQ_FEW_BYTES, and gets of at most 8
  uintptr_t many;  ///< for longer ones; 0 also for this rank itself: they may overlap, and a loop of gets must make progress
  uintptr_t word;  ///< for reading words, and for atomics
};
/// What inline functions read of a team. A pair of endpoints is an odd number in place of a pointer.
struct aqg_team {
  aq_endpoint* ep;
  const struct aqg_shift* shifts;  ///< by job rank
  const struct aqg_place* places;  ///< of the primordial endpoints, by job rank
  const uint32_t* ranks;           ///< the job rank of each member; null: they are equal
  uint32_t rank;
  uint32_t size;
};

// ------------------------------------------------------------------------------------------- client and job

/// The layout of aqg_place, aqg_shift, aqg_team and aqg_domain, and the values of flags, types and operations. Who changes one raises it: compat/gasnet/layout.cpp notices.
#define AQG_LAYOUT 1u
/// Whether inline functions compiled for these layouts (AQG_LAYOUT, AQ_LAYOUT) fit the libraries: GASNET_OK, or GASNET_ERR_RESOURCE, and
/// a line on stderr names both.
int aqg_of_layout(uint32_t layer, uint32_t below);

// Linking with the library of another thread mode leaves these undefined.
int aqg_client_init_seq(gex_Client_t*, gex_EP_t*, gex_TM_t*, const char*, int*, char***, gex_Flags_t);
int aqg_client_init_parsync(gex_Client_t*, gex_EP_t*, gex_TM_t*, const char*, int*, char***, gex_Flags_t);
int aqg_client_init_par(gex_Client_t*, gex_EP_t*, gex_TM_t*, const char*, int*, char***, gex_Flags_t);
static inline int gex_Client_Init(gex_Client_t* client_p, gex_EP_t* ep_p, gex_TM_t* tm_p,
                                  const char* clientName, int* argc, char*** argv, gex_Flags_t flags) {
  const int fits = aqg_of_layout(AQG_LAYOUT, AQ_LAYOUT);
  if (fits != GASNET_OK) return fits;
  return AQG_OF_MODE(aqg_client_init)(client_p, ep_p, tm_p, clientName, argc, argv, flags);
}
#ifndef AQG_WITHOUT_TEXTS
// In each file of a client, also one that does not start the job: locks of another mode are not the same.
static int (*const aqg_mode_of_file)(gex_Client_t*, gex_EP_t*, gex_TM_t*, const char*, int*, char***, gex_Flags_t)
    __attribute__((__used__)) = AQG_OF_MODE(aqg_client_init);
#endif
gex_Flags_t gex_Client_QueryFlags(gex_Client_t client);
const char* gex_Client_QueryName(gex_Client_t client);
void gex_Client_SetCData(gex_Client_t client, const void* val);
void* gex_Client_QueryCData(gex_Client_t client);

void gasnet_exit(int exitcode) __attribute__((__noreturn__));
const char* gasnet_ErrorName(int errval);
const char* gasnet_ErrorDesc(int errval);
char* gasnet_getenv(const char* s);
#define GASNET_WAIT_SPIN 0
#define GASNET_WAIT_BLOCK 1
#define GASNET_WAIT_SPINBLOCK 2
int gasnet_set_waitmode(int wait_mode);
uintptr_t gasnet_getMaxLocalSegmentSize(void);
uintptr_t gasnet_getMaxGlobalSegmentSize(void);
// Two calls of GASNet-1's that clients of this header alone make, as GASNet's own has them.
int gasnet_getSegmentInfo(gasnet_seginfo_t* seginfo_table, int numentries);
int gasnet_getNodeInfo(gasnet_nodeinfo_t* nodeinfo_table, int numentries);

/// A function that each rank calls with its segment while it attaches it, before other ranks may use it. Set it before
/// the attach; null: none.
extern void (*gasnet_client_attach_hook)(void* segment, uintptr_t size);

/// What a client may set before the start, or define: the limit of its segments, as in GASNET_MAX_SEGSIZE, which comes before it;
/// and an older form, in bytes. Null and 0: none.
extern const char* gasnet_max_segsize_str;
extern uint64_t gasnet_max_segsize;

extern uint32_t aqg_job_rank;
extern uint32_t aqg_job_size;
static inline gex_Rank_t gex_System_QueryJobRank(void) { return aqg_job_rank; }
static inline gex_Rank_t gex_System_QueryJobSize(void) { return aqg_job_size; }
int gex_System_GetVerboseErrors(void);
void gex_System_SetVerboseErrors(int enable);
uint64_t gex_System_QueryMaxThreads(void);
int gex_System_QueryHiddenAMConcurrencyLevel(void);
int gex_System_QueryProgressThreads(gex_Client_t client, unsigned int* count_p,
                                    const gex_ProgressThreadInfo_t** info_p, gex_Flags_t flags);
void gex_System_QueryNbrhdInfo(gex_RankInfo_t** info_p, gex_Rank_t* info_count_p,
                               gex_Rank_t* my_info_index_p);
void gex_System_QueryHostInfo(gex_RankInfo_t** info_p, gex_Rank_t* info_count_p, gex_Rank_t* my_info_index_p);
void gex_System_QueryMyPosition(gex_Rank_t* nbrhd_set_size_p, gex_Rank_t* nbrhd_set_rank_p,
                                gex_Rank_t* host_set_size_p, gex_Rank_t* host_set_rank_p);

int gasnet_AMPoll(void);
void aqg_pause(unsigned* round);
/// Polls until the condition holds, and sleeps in between as the wait mode allows.
#define GASNET_BLOCKUNTIL(cond)                                 \
  do {                                                          \
    if (!(cond)) {                                              \
      unsigned aqg_round_ = 0;                                  \
      do {                                                      \
        aqg_pause(&aqg_round_);                                 \
      } while (!(cond));                                        \
    }                                                           \
    gasnett_local_rmb();                                        \
  } while (0)

// Threads are found by thread-local variables; nothing is passed on.
typedef void* gasnet_threadinfo_t;
#define GASNET_GET_THREADINFO() ((gasnet_threadinfo_t)0)
#define GASNET_POST_THREADINFO(info) struct aqg_nothing_posted
#define GASNET_BEGIN_FUNCTION() struct aqg_nothing_begun

// ------------------------------------------------------------------------------------------- segments, endpoints

gex_Client_t gex_Segment_QueryClient(gex_Segment_t seg);
gex_Flags_t gex_Segment_QueryFlags(gex_Segment_t seg);
void* gex_Segment_QueryAddr(gex_Segment_t seg);
uintptr_t gex_Segment_QuerySize(gex_Segment_t seg);
void gex_Segment_SetCData(gex_Segment_t seg, const void* val);
void* gex_Segment_QueryCData(gex_Segment_t seg);
int gex_Segment_Attach(gex_Segment_t* segment_p, gex_TM_t tm, uintptr_t size);
int gex_Segment_Create(gex_Segment_t* segment_p, gex_Client_t client, gex_Addr_t address, uintptr_t length,
                       gex_MK_t kind, gex_Flags_t flags);
void gex_Segment_Destroy(gex_Segment_t segment, gex_Flags_t flags);
int gex_Segment_QueryBound(gex_TM_t tm, gex_Rank_t rank, void** owneraddr_p, void** localaddr_p,
                           uintptr_t* size_p);

gex_Client_t gex_EP_QueryClient(gex_EP_t ep);
gex_Flags_t gex_EP_QueryFlags(gex_EP_t ep);
gex_Segment_t gex_EP_QuerySegment(gex_EP_t ep);
gex_EP_Index_t gex_EP_QueryIndex(gex_EP_t ep);
void gex_EP_SetCData(gex_EP_t ep, const void* val);
void* gex_EP_QueryCData(gex_EP_t ep);
int gex_EP_Create(gex_EP_t* ep_p, gex_Client_t client, gex_EP_Capabilities_t capabilities, gex_Flags_t flags);
int gex_EP_BindSegment(gex_EP_t ep, gex_Segment_t segment, gex_Flags_t flags);
int gex_EP_PublishBoundSegment(gex_TM_t tm, gex_EP_t* eps, size_t num_eps, gex_Flags_t flags);
int gex_EP_RegisterHandlers(gex_EP_t ep, gex_AM_Entry_t* table, size_t numentries);
gex_Event_t gex_EP_QueryBoundSegmentNB(gex_TM_t tm, gex_Rank_t rank, void** owneraddr_p, void** localaddr_p,
                                       uintptr_t* size_p, gex_Flags_t flags);

// ------------------------------------------------------------------------------------------- teams

gex_Client_t gex_TM_QueryClient(gex_TM_t tm);
gex_EP_t gex_TM_QueryEP(gex_TM_t tm);
gex_Flags_t gex_TM_QueryFlags(gex_TM_t tm);
static inline gex_Rank_t gex_TM_QueryRank(gex_TM_t tm) { return tm->rank; }
static inline gex_Rank_t gex_TM_QuerySize(gex_TM_t tm) { return tm->size; }
void gex_TM_SetCData(gex_TM_t tm, const void* val);
void* gex_TM_QueryCData(gex_TM_t tm);
size_t gex_TM_Split(gex_TM_t* new_tm_p, gex_TM_t parent_tm, int color, int key, void* scratch_addr,
                    size_t scratch_size, gex_Flags_t flags);
size_t gex_TM_Create(gex_TM_t* new_tms, size_t num_new_tms, gex_TM_t parent_tm, gex_EP_Location_t* args,
                     size_t numargs, gex_Addr_t* scratch_addrs, size_t scratch_size, gex_Flags_t flags);
int gex_TM_Destroy(gex_TM_t tm, gex_Memvec_t* scratch_p, gex_Flags_t flags);
gex_TM_t gex_TM_Pair(gex_EP_t local_ep, gex_EP_Index_t remote_ep_index);
gex_Rank_t gex_TM_TranslateRankToJobrank(gex_TM_t tm, gex_Rank_t rank);
gex_Rank_t gex_TM_TranslateJobrankToRank(gex_TM_t tm, gex_Rank_t jobrank);
gex_EP_Location_t gex_TM_TranslateRankToEP(gex_TM_t tm, gex_Rank_t rank, gex_Flags_t flags);

gex_Event_t gex_Coll_BarrierNB(gex_TM_t tm, gex_Flags_t flags);
void gex_Coll_BarrierBlocking(gex_TM_t tm, gex_Flags_t flags);

// GASNet-1's barrier, on the ranks of the job.
#define GASNET_BARRIERFLAG_ANONYMOUS 1
#define GASNET_BARRIERFLAG_MISMATCH 2
#define GASNET_BARRIERFLAG_UNNAMED (4 | GASNET_BARRIERFLAG_ANONYMOUS)
void gasnet_barrier_notify(int id, int flags);
int gasnet_barrier_wait(int id, int flags);
int gasnet_barrier_try(int id, int flags);
int gasnet_barrier(int id, int flags);
/// Stores the name of the last barrier that this rank has completed, and returns 0; or returns 1 if all were anonymous.
int gasnet_barrier_result(int* id);

// ------------------------------------------------------------------------------------------- events

int aqg_test(gex_Event_t event);
void aqg_wait(gex_Event_t event);
static inline int gex_Event_Test(gex_Event_t event) {
  return event == GEX_EVENT_INVALID ? GASNET_OK : aqg_test(event);
}
static inline void gex_Event_Wait(gex_Event_t event) {
  if (event != GEX_EVENT_INVALID) aqg_wait(event);
}
int gex_Event_TestSome(gex_Event_t* pevent, size_t numevents, gex_Flags_t flags);
void gex_Event_WaitSome(gex_Event_t* pevent, size_t numevents, gex_Flags_t flags);
int gex_Event_TestAll(gex_Event_t* pevent, size_t numevents, gex_Flags_t flags);
void gex_Event_WaitAll(gex_Event_t* pevent, size_t numevents, gex_Flags_t flags);
gex_Event_t gex_Event_QueryLeaf(gex_Event_t root, gex_EC_t event_category);
int gex_NBI_Test(gex_EC_t event_mask, gex_Flags_t flags);
void gex_NBI_Wait(gex_EC_t event_mask, gex_Flags_t flags);
void gex_NBI_BeginAccessRegion(gex_Flags_t flags);
gex_Event_t gex_NBI_EndAccessRegion(gex_Flags_t flags);

// ------------------------------------------------------------------------------------------- puts and gets

int aqg_put(gex_TM_t tm, gex_Rank_t rank, void* dest, const void* src, size_t nbytes, gex_Flags_t flags);
int aqg_put_nbi(gex_TM_t tm, gex_Rank_t rank, void* dest, const void* src, size_t nbytes, gex_Event_t* lc_opt,
                gex_Flags_t flags);
gex_Event_t aqg_put_nb(gex_TM_t tm, gex_Rank_t rank, void* dest, const void* src, size_t nbytes,
                       gex_Event_t* lc_opt, gex_Flags_t flags);
int aqg_get(gex_TM_t tm, void* dest, gex_Rank_t rank, void* src, size_t nbytes, gex_Flags_t flags);
int aqg_get_nbi(gex_TM_t tm, void* dest, gex_Rank_t rank, void* src, size_t nbytes, gex_Flags_t flags);
gex_Event_t aqg_get_nb(gex_TM_t tm, void* dest, gex_Rank_t rank, void* src, size_t nbytes, gex_Flags_t flags);

/// The shifts of the primordial endpoints, by job rank; null before gex_Client_Init.
extern const struct aqg_shift* aqg_shifts;
/// The job rank of a member. Requires: a team, not a pair of endpoints, and one of its ranks.
static inline gex_Rank_t aqg_rank_in_job(gex_TM_t tm, gex_Rank_t rank) {
  return __builtin_expect(tm->ranks == NULL, 1) ? rank : tm->ranks[rank];
}
/// Where the bound segment of a member is. Requires: the same.
static inline const struct aqg_place* aqg_place_of(gex_TM_t tm, gex_Rank_t rank) {
  return &tm->places[aqg_rank_in_job(tm, rank)];
}
static inline int aqg_is_pair(gex_TM_t tm) { return (int)((uintptr_t)tm & 1); }
/// What an access is for.
enum aqg_access { AQG_TRANSFER, AQG_LONG_TRANSFER, AQG_WORD };
/// Where an address of a member's segment is mapped here; null: it is not, or the library has to do this. The specification leaves
/// addresses outside of the segment undefined: only checked builds look whether all bytes are inside. Requires: one of a team's ranks.
static inline char* aqg_find(gex_TM_t tm, gex_Rank_t rank, const void* address, size_t nbytes, enum aqg_access access) {
#ifdef AQUEDUCT_CHECKED
  const struct aqg_place* const place = aqg_place_of(tm, rank);
  if (access == AQG_LONG_TRANSFER && rank == tm->rank) return NULL;
  return aq_find_in_window(access == AQG_WORD ? place->value_window : place->window,
                           (uint64_t)(uintptr_t)address - place->base, nbytes);
#else
  // An atomic waits for all loads that its address comes from: those of words take the shorter way to the same table.
  const struct aqg_shift* const known = &(access == AQG_WORD ? aqg_shifts : tm->shifts)[aqg_rank_in_job(tm, rank)];
  const uintptr_t* const where = access == AQG_WORD ? &known->word : access == AQG_LONG_TRANSFER ? &known->many : &known->few;
  const uintptr_t shift = __atomic_load_n(where, __ATOMIC_RELAXED);
  (void)nbytes;
  return __builtin_expect(shift != 0, 1) ? (char*)((uintptr_t)address + shift - 1) : NULL;
#endif
}
/// Checked builds: a transfer with a null pointer goes through the library, which names the call.
static inline int aqg_is_null(const void* own) {
#ifdef AQUEDUCT_CHECKED
  return own == NULL;
#else
  (void)own;
  return 0;
#endif
}
/// The most bytes that memcpy copies: what is longer is written in the way that suits its readers (decision 12).
#define AQG_MEMCPY_BYTES 1024u
void aqg_copy_more(void* to, const void* from, size_t nbytes);
void aqg_write_more(void* to, const void* from, size_t nbytes);
/// Copies between a member's memory that is mapped here and this process's own. 0: nothing has happened, the library shall do it.
/// `few` is for transfers of at most 8 bytes. The short ones come first, so that each length costs few comparisons.
static inline __attribute__((__always_inline__)) int aqg_copy_mapped(int gets, enum aqg_access few, gex_TM_t tm, gex_Rank_t rank,
                                                                     const void* remote, void* own, size_t nbytes) {
  if (__builtin_expect(aqg_is_pair(tm) || rank >= tm->size || aqg_is_null(own), 0)) return 0;
  if (nbytes <= AQ_FEW_BYTES) {
    // Longer gets of this rank's own memory go through the library: a loop on them makes progress.
    const enum aqg_access access = nbytes <= 8 ? few : gets ? AQG_LONG_TRANSFER : AQG_TRANSFER;
    char* const at = aqg_find(tm, rank, remote, nbytes, access);
    if (__builtin_expect(at == NULL, 0)) return 0;
    aq_copy_short(gets ? own : at, gets ? at : own, nbytes);
    return 1;
  }
  {
    char* const at = aqg_find(tm, rank, remote, nbytes, AQG_LONG_TRANSFER);
    if (__builtin_expect(at == NULL, 0)) return 0;
    void* to = gets ? own : at;
    const void* from = gets ? at : own;
    // A constant number of bytes would be more instructions than a call is.
    if (nbytes <= (__builtin_constant_p(nbytes) ? AQ_LOOP_CONSTANT_BYTES - 1 : AQG_MEMCPY_BYTES)) {
      __asm__("" : "+r"(to), "+r"(from));  // so that the compiler does not warn where they are too short to get here
      memcpy(to, from, nbytes);
      return 1;
    }
    if (nbytes > AQ_INLINE_BYTES) return 0;
    (gets ? aqg_copy_more : aqg_write_more)(to, from, nbytes);
    return 1;
  }
}
static inline int aqg_put_mapped(gex_TM_t tm, gex_Rank_t rank, const void* to, const void* from, size_t nbytes) {
  return aqg_copy_mapped(0, AQG_TRANSFER, tm, rank, to, (void*)(uintptr_t)from, nbytes);
}
static inline int aqg_get_mapped(gex_TM_t tm, gex_Rank_t rank, void* to, const void* from, size_t nbytes) {
  return aqg_copy_mapped(1, AQG_TRANSFER, tm, rank, from, to, nbytes);
}
/// As aqg_get_mapped, but not of a word if a loop on this rank's own memory has to make progress now and then.
static inline int aqg_get_mapped_value(gex_TM_t tm, gex_Rank_t rank, void* to, const void* from, size_t nbytes) {
  return aqg_copy_mapped(1, AQG_WORD, tm, rank, from, to, nbytes);
}
static inline int aqg_is_pointer(const gex_Event_t* lc_opt) { return (uintptr_t)lc_opt > 3; }

/// Checked builds call these three. Each ends the job, and names the call. The first: flags say what is not true. The second: the call
/// does not have this place for local completion (`group` is GEX_EVENT_GROUP if it has that one, else null). The third: a value has 0 or
/// more than 8 bytes.
void aqg_check_transfer(const char* call, gex_TM_t tm, gex_Rank_t rank, gex_Flags_t flags);
void aqg_check_source(const char* call, const gex_Event_t* lc_opt, const gex_Event_t* group);
void aqg_check_value(const char* call, size_t nbytes);
#ifdef AQUEDUCT_CHECKED
#define AQG_CHECK(check) check
#else
#define AQG_CHECK(check) ((void)0)
#endif

static inline int gex_RMA_PutBlocking(gex_TM_t tm, gex_Rank_t rank, void* dest, const void* src, size_t nbytes,
                                      gex_Flags_t flags) {
  AQG_CHECK(aqg_check_transfer("gex_RMA_PutBlocking", tm, rank, flags));
  return __builtin_expect(aqg_put_mapped(tm, rank, dest, src, nbytes), 1) ? 0 : aqg_put(tm, rank, dest, src, nbytes, flags);
}
static inline int gex_RMA_PutNBI(gex_TM_t tm, gex_Rank_t rank, void* dest, const void* src, size_t nbytes,
                                 gex_Event_t* lc_opt, gex_Flags_t flags) {
  AQG_CHECK(aqg_check_transfer("gex_RMA_PutNBI", tm, rank, flags));
  AQG_CHECK(aqg_check_source("gex_RMA_PutNBI", lc_opt, GEX_EVENT_GROUP));
  if (__builtin_expect(aqg_put_mapped(tm, rank, dest, src, nbytes), 1)) return 0;
  return aqg_put_nbi(tm, rank, dest, src, nbytes, lc_opt, flags);
}
static inline gex_Event_t gex_RMA_PutNB(gex_TM_t tm, gex_Rank_t rank, void* dest, const void* src,
                                        size_t nbytes, gex_Event_t* lc_opt, gex_Flags_t flags) {
  AQG_CHECK(aqg_check_transfer("gex_RMA_PutNB", tm, rank, flags));
  AQG_CHECK(aqg_check_source("gex_RMA_PutNB", lc_opt, NULL));
  if (__builtin_expect(!aqg_put_mapped(tm, rank, dest, src, nbytes), 0)) return aqg_put_nb(tm, rank, dest, src, nbytes, lc_opt, flags);
  if (aqg_is_pointer(lc_opt)) *lc_opt = GEX_EVENT_INVALID;
  return GEX_EVENT_INVALID;
}
static inline int gex_RMA_GetBlocking(gex_TM_t tm, void* dest, gex_Rank_t rank, void* src, size_t nbytes,
                                      gex_Flags_t flags) {
  AQG_CHECK(aqg_check_transfer("gex_RMA_GetBlocking", tm, rank, flags));
  return __builtin_expect(aqg_get_mapped_value(tm, rank, dest, src, nbytes), 1) ? 0 : aqg_get(tm, dest, rank, src, nbytes, flags);
}
static inline int gex_RMA_GetNBI(gex_TM_t tm, void* dest, gex_Rank_t rank, void* src, size_t nbytes,
                                 gex_Flags_t flags) {
  AQG_CHECK(aqg_check_transfer("gex_RMA_GetNBI", tm, rank, flags));
  return __builtin_expect(aqg_get_mapped(tm, rank, dest, src, nbytes), 1) ? 0 : aqg_get_nbi(tm, dest, rank, src, nbytes, flags);
}
static inline gex_Event_t gex_RMA_GetNB(gex_TM_t tm, void* dest, gex_Rank_t rank, void* src, size_t nbytes,
                                        gex_Flags_t flags) {
  AQG_CHECK(aqg_check_transfer("gex_RMA_GetNB", tm, rank, flags));
  if (__builtin_expect(aqg_get_mapped(tm, rank, dest, src, nbytes), 1)) return GEX_EVENT_INVALID;
  return aqg_get_nb(tm, dest, rank, src, nbytes, flags);
}

/// The bytes of a value, as they lie in memory.
static inline const void* aqg_bytes_of(const gex_RMA_Value_t* value, size_t nbytes) {
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
  (void)nbytes;
  return value;
#else
  return (const char*)value + (sizeof *value - nbytes);
#endif
}
static inline int gex_RMA_PutBlockingVal(gex_TM_t tm, gex_Rank_t rank, void* dest, gex_RMA_Value_t value,
                                         size_t nbytes, gex_Flags_t flags) {
  AQG_CHECK(aqg_check_value("gex_RMA_PutBlockingVal", nbytes));
  return gex_RMA_PutBlocking(tm, rank, dest, aqg_bytes_of(&value, nbytes), nbytes, flags);
}
static inline int gex_RMA_PutNBIVal(gex_TM_t tm, gex_Rank_t rank, void* dest, gex_RMA_Value_t value,
                                    size_t nbytes, gex_Flags_t flags) {
  AQG_CHECK(aqg_check_value("gex_RMA_PutNBIVal", nbytes));
  return gex_RMA_PutNBI(tm, rank, dest, aqg_bytes_of(&value, nbytes), nbytes, GEX_EVENT_NOW, flags);
}
static inline gex_Event_t gex_RMA_PutNBVal(gex_TM_t tm, gex_Rank_t rank, void* dest, gex_RMA_Value_t value,
                                           size_t nbytes, gex_Flags_t flags) {
  AQG_CHECK(aqg_check_value("gex_RMA_PutNBVal", nbytes));
  return gex_RMA_PutNB(tm, rank, dest, aqg_bytes_of(&value, nbytes), nbytes, GEX_EVENT_NOW, flags);
}
static inline gex_RMA_Value_t gex_RMA_GetBlockingVal(gex_TM_t tm, gex_Rank_t rank, void* src, size_t nbytes,
                                                     gex_Flags_t flags) {
  gex_RMA_Value_t value = 0;
  AQG_CHECK(aqg_check_value("gex_RMA_GetBlockingVal", nbytes));
  // A value cannot say that nothing has happened.
  (void)gex_RMA_GetBlocking(tm, (void*)(uintptr_t)aqg_bytes_of(&value, nbytes), rank, src, nbytes,
                            flags & ~GEX_FLAG_IMMEDIATE);
  return value;
}

// ------------------------------------------------------------------------------------------- locks of handlers

#if defined(GASNET_SEQ)
typedef struct {
  char unused;
} gex_HSL_t;
#define GEX_HSL_INITIALIZER \
  { 0 }
static inline void gex_HSL_Init(gex_HSL_t* hsl) { (void)hsl; }
static inline void gex_HSL_Destroy(gex_HSL_t* hsl) { (void)hsl; }
static inline void gex_HSL_Lock(gex_HSL_t* hsl) { (void)hsl; }
static inline void gex_HSL_Unlock(gex_HSL_t* hsl) { (void)hsl; }
static inline int gex_HSL_Trylock(gex_HSL_t* hsl) {
  (void)hsl;
  return GASNET_OK;
}
#else
typedef struct {
  pthread_mutex_t mutex;
} gex_HSL_t;
#define GEX_HSL_INITIALIZER \
  { PTHREAD_MUTEX_INITIALIZER }
void gex_HSL_Init(gex_HSL_t* hsl);
void gex_HSL_Destroy(gex_HSL_t* hsl);
void gex_HSL_Lock(gex_HSL_t* hsl);
void gex_HSL_Unlock(gex_HSL_t* hsl);
int gex_HSL_Trylock(gex_HSL_t* hsl);
#endif

// ------------------------------------------------------------------------------------------- active messages

gex_TI_t gex_Token_Info(gex_Token_t token, gex_Token_Info_t* info, gex_TI_t mask);
static inline unsigned int gex_AM_MaxArgs(void) { return 16; }
size_t gex_AM_MaxRequestLong(gex_TM_t tm, gex_Rank_t other_rank, const gex_Event_t* lc_opt, gex_Flags_t flags,
                             unsigned int numargs);
size_t gex_AM_MaxReplyLong(gex_TM_t tm, gex_Rank_t other_rank, const gex_Event_t* lc_opt, gex_Flags_t flags,
                           unsigned int numargs);
size_t gex_AM_MaxRequestMedium(gex_TM_t tm, gex_Rank_t other_rank, const gex_Event_t* lc_opt,
                               gex_Flags_t flags, unsigned int numargs);
size_t gex_AM_MaxReplyMedium(gex_TM_t tm, gex_Rank_t other_rank, const gex_Event_t* lc_opt, gex_Flags_t flags,
                             unsigned int numargs);
size_t gex_Token_MaxReplyLong(gex_Token_t token, const gex_Event_t* lc_opt, gex_Flags_t flags,
                              unsigned int numargs);
size_t gex_Token_MaxReplyMedium(gex_Token_t token, const gex_Event_t* lc_opt, gex_Flags_t flags,
                                unsigned int numargs);
size_t gex_AM_LUBRequestLong(void);
size_t gex_AM_LUBReplyLong(void);
size_t gex_AM_LUBRequestMedium(void);
size_t gex_AM_LUBReplyMedium(void);

gex_AM_SrcDesc_t gex_AM_PrepareRequestMedium(gex_TM_t tm, gex_Rank_t rank, const void* client_buf,
                                             size_t least_payload, size_t most_payload, gex_Event_t* lc_opt,
                                             gex_Flags_t flags, unsigned int numargs);
gex_AM_SrcDesc_t gex_AM_PrepareReplyMedium(gex_Token_t token, const void* client_buf, size_t least_payload,
                                           size_t most_payload, gex_Event_t* lc_opt, gex_Flags_t flags,
                                           unsigned int numargs);
gex_AM_SrcDesc_t gex_AM_PrepareRequestLong(gex_TM_t tm, gex_Rank_t rank, const void* client_buf,
                                           size_t least_payload, size_t most_payload, void* dest_addr,
                                           gex_Event_t* lc_opt, gex_Flags_t flags, unsigned int numargs);
gex_AM_SrcDesc_t gex_AM_PrepareReplyLong(gex_Token_t token, const void* client_buf, size_t least_payload,
                                         size_t most_payload, void* dest_addr, gex_Event_t* lc_opt,
                                         gex_Flags_t flags, unsigned int numargs);
void* gex_AM_SrcDescAddr(gex_AM_SrcDesc_t sd);
size_t gex_AM_SrcDescSize(gex_AM_SrcDesc_t sd);
int aqg_cancel(gex_AM_SrcDesc_t sd, int is_request, int is_long, gex_Flags_t flags);
static inline int gex_AM_CancelRequestMedium(gex_AM_SrcDesc_t sd, gex_Flags_t flags) {
  return aqg_cancel(sd, 1, 0, flags);
}
static inline int gex_AM_CancelReplyMedium(gex_AM_SrcDesc_t sd, gex_Flags_t flags) {
  return aqg_cancel(sd, 0, 0, flags);
}
static inline int gex_AM_CancelRequestLong(gex_AM_SrcDesc_t sd, gex_Flags_t flags) {
  return aqg_cancel(sd, 1, 1, flags);
}
static inline int gex_AM_CancelReplyLong(gex_AM_SrcDesc_t sd, gex_Flags_t flags) {
  return aqg_cancel(sd, 0, 1, flags);
}

#include <aqueduct_gasnet/formats.h>
#include <aqueduct_gasnet/messages.h>

#ifdef __cplusplus
}
#endif
