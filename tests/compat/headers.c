// The headers of the GASNet layer in the order that ORDER says, and the macros of each family. In C and in C++; headers.sh compiles it.

#define SIZEOF_LONG 8  // as configure scripts of clients write it
#if ORDER == 1  // what README-tools lets a client define
#define GASNETT_USE_PRAGMA_GCC_DIAGNOSTIC 0
#define GASNETT_USE_RESTRICT
#endif
#if ORDER == 0
#include <gasnet_fwd.h>
#include <gasnet.h>
#include <gasnet_vis.h>
#include <gasnet_coll.h>
#include <gasnet_ratomic.h>
#include <gasnet_mk.h>
#include <gasnet_tools.h>
#elif ORDER == 1
#include <gasnet_mk.h>
#include <gasnet_ratomic.h>
#include <gasnet_coll.h>
#include <gasnet_vis.h>
#include <gasnet.h>
#include <gasnet_fwd.h>
#include <gasnetex.h>
#else
// As C++ clients wrap headers of C.
#ifdef __cplusplus
extern "C" {
#endif
#include <gasnet_vis.h>
#include <gasnet_tools.h>
#include <gasnet_coll.h>
#include <gasnet.h>
#include <gasnet_mk.h>
#include <gasnet_ratomic.h>
#ifdef __cplusplus
}
#endif
#endif

// Clients in C that are older than <stdbool.h> have words of their own.
#if !defined(__cplusplus) && !defined(__bool_true_false_are_defined) && __STDC_VERSION__ < 202000L
typedef enum { false, true } bool;
#elif !defined(__cplusplus) && __STDC_VERSION__ < 202000L
#error the headers include stdbool.h
#endif
#if GEX_OP_TO_FETCHING(GEX_OP_ADD) != GEX_OP_FADD || GEX_OP_TO_NONFETCHING(GEX_OP_SWAP) != GEX_OP_SET
#error an operation and that which fetches
#endif
#define SIZEOF_INT 4
#define SIZEOF_VOID_P 8
#define HAVE_PTHREAD_H 1

static gex_HSL_t lock = GEX_HSL_INITIALIZER;
static gasnett_atomic_t count = gasnett_atomic_init(3);
static gasnett_atomic64_t wide = gasnett_atomic64_init(4);
static gasnett_mutex_t mutex = GASNETT_MUTEX_INITIALIZER;
static gasnett_cond_t condition = GASNETT_COND_INITIALIZER;
static gasnett_rwlock_t readers = GASNETT_RWLOCK_INITIALIZER;
GASNETT_THREADKEY_DECLARE(key_of_headers);
GASNETT_THREADKEY_DEFINE(key_of_headers);
GASNETT_IDENT(text_of_headers, "$Headers: of the layer $");
GASNETT_INLINE(twice)
int twice(int x) { return 2 * x; }
GASNETT_FORMAT_PRINTF(say, 1, 2, static void say(const char* format, ...));
static void say(const char* format, ...) { (void)format; }

int messages_of_headers(gex_TM_t tm, gex_Token_t token, gex_AM_SrcDesc_t sd, void* at);
int messages_of_headers(gex_TM_t tm, gex_Token_t token, gex_AM_SrcDesc_t sd, void* at) {
  gex_Event_t event = GEX_EVENT_INVALID;
  int sum = gex_AM_RequestShort(tm, 0, 200, 0) + gex_AM_RequestShort(tm, 0, 200, 0, 1, 2);
  sum += gex_AM_RequestMedium(tm, 0, 200, at, 8, GEX_EVENT_NOW, 0) + gex_AM_RequestLong(tm, 0, 200, at, 8, at, &event, 0, 5);
  sum += gex_AM_ReplyShort(token, 201, 0, 1) + gex_AM_ReplyMedium(token, 201, at, 8, GEX_EVENT_NOW, 0);
  sum += gex_AM_ReplyLong(token, 201, at, 8, at, GEX_EVENT_NOW, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16);
  gex_AM_CommitRequestMedium(sd, 200, 8);
  gex_AM_CommitReplyLong(sd, 200, 8, at, 1);
  sum += gex_AM_CommitRequestLong_v2(sd, 200, 8, at, GEX_FLAG_IMMEDIATE) + gasnet_AMRequestShort(0, 200, 0);
  return sum + gasnet_AMRequestMedium(0, 200, at, 8, 1, 7) + gasnet_AMReplyLong(token, 200, at, 8, at, 0);
}
// The calls of GASNet-1 take sources that are constant, and count their arguments where their names do not.
int legacy_of_headers(gex_Token_t token, const double* from, void* at);
int legacy_of_headers(gex_Token_t token, const double* from, void* at) {
  gasnet_nodeinfo_t node = {0, 0, 0};
  uintptr_t* const offset = &node.offset;
  const int more = 1;
  gasnet_put(0, at, from, 8);
  gasnet_put_nbi(0, at, from, 8);
  gasnet_put_nbi_bulk(0, at, from, 8);
  gasnet_wait_syncnb(gasnet_put_nb(0, at, from, 8));
  gasnet_wait_syncnb(gasnet_put_nb_bulk(0, at, from, 8));
  int sum = gasnet_AMRequestMedium1(0, 200, from, 8, 7) + gasnet_AMRequestLong0(0, 200, from, 8, at) + gasnet_AMRequestLongAsync0(0, 200, from, 8, at);
  sum += gasnet_AMReplyMedium0(token, 200, from, 8) + gasnet_AMReplyLong1(token, 200, from, 8, at, 3);
  sum += gasnet_AMRequestShort(0, 200, more + 1, 5, 6) + gasnet_AMRequestMedium(0, 200, from, 8, 0) + gasnet_AMRequestLong(0, 200, from, 8, at, 1, 4);
  sum += gasnet_AMRequestLongAsync(0, 200, from, 8, at, 1, 4) + gasnet_AMReplyShort(token, 200, 1, 2) + gasnet_AMReplyMedium(token, 200, from, 8, 1, 2);
  sum += gasnet_AMReplyLong(token, 200, from, 8, at, 16, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16);
#if defined(__cplusplus) && __cplusplus >= 201103L
  enum class Which { first, second };
  sum += gasnet_AMRequestShort1(0, 200, Which::second) + gex_AM_RequestShort(aqg_world_tm, 0, 200, 0, Which::first, 3u);
#endif
  return sum + (int)*offset + (gasnet_max_segsize_str != 0 ? 1 : (int)gasnet_max_segsize);
}
int tools_of_headers(int x);
int tools_of_headers(int x) {
  GASNET_BEGIN_FUNCTION();
  gex_HSL_Lock(&lock);
  gex_HSL_Unlock(&lock);
  gasnett_mutex_lock(&mutex);
  gasnett_mutex_assertlocked(&mutex);
  gasnett_cond_signal(&condition);
  gasnett_mutex_unlock(&mutex);
  gasnett_rwlock_rdlock(&readers);
  gasnett_rwlock_unlock(&readers);
  gasnett_threadkey_set(key_of_headers, &lock);
  gasnett_atomic_increment(&count, GASNETT_ATOMIC_NONE);
  gasnett_atomic64_set(&wide, 5, GASNETT_ATOMIC_REL);
  const int traced = 7;  // used by nothing else
  GASNETT_TRACE_PRINTF("%d", traced);
  GASNETT_STATS_PRINTF_FORCE("%d %s", x, "times");
  if (GASNETT_STATS_INIT(0)) return 1;
  say("%d", x);
  if_pf (x == 4) return 0;
  GASNET_BLOCKUNTIL(gasnett_atomic_read(&count, 0) > 0);
  switch (x) {
    case 1: ++x; GASNETT_FALLTHROUGH
    default: x = twice(x);
  }
  if (gasnett_threadkey_get(key_of_headers) == 0) gasnett_fatalerror("%d", x);
  return x + (int)gasnett_atomic64_read(&wide, GASNETT_ATOMIC_ACQ) + (GEX_RANK_INVALID > 0 && GEX_EVENT_NO_OP != GEX_EVENT_INVALID);
}
