// What a client of GASNet-EX must not do, one case a run: the job ends, with a line that names the call. wrong.sh runs the cases.

#include <gasnet_vis.h>
#include <gasnetex.h>

#include "tests/compat/check.h"

#include <string.h>

static gex_Client_t client;
static gex_EP_t endpoint;
static gex_TM_t world;
static gex_Segment_t segment;
static gex_Rank_t me, to;
static char* there;
static void* volatile nowhere = NULL;  // so that the compiler does not warn

enum { kTake = 200, kAsk = 201, kTaken = 202, kBytes = 4096 };

static void take(gex_Token_t token, void* payload, size_t bytes) {
  (void)token, (void)payload, (void)bytes;
}
static void ask(gex_Token_t token, void* payload, size_t bytes) {
  (void)payload;
  gex_AM_ReplyLong0(token, kTaken, nowhere, bytes, there, GEX_EVENT_NOW, 0);
}

static void run(const char* what) {
  gex_Memvec_t far[1] = {{there, 64}}, none[1] = {{nowhere, 64}};
  void* list[1] = {there};
  void* no_list[1] = {nowhere};
  const ptrdiff_t strides[1] = {16};
  const size_t counts[1] = {4};
  char memory[64];
#define CASE(name, call) \
  if (strcmp(what, name) == 0) call
  CASE("medium", gex_AM_RequestMedium0(world, to, kTake, nowhere, 8, GEX_EVENT_NOW, 0));
  CASE("long", gex_AM_RequestLong0(world, to, kTake, nowhere, 8, there, GEX_EVENT_NOW, 0));
  CASE("reply", gex_AM_RequestMedium0(world, to, kAsk, memory, 8, GEX_EVENT_NOW, 0));
  CASE("put", gex_RMA_PutBlocking(world, to, there, nowhere, kBytes, 0));
  CASE("put_nb", gex_Event_Wait(gex_RMA_PutNB(world, to, there, nowhere, kBytes, GEX_EVENT_DEFER, 0)));
  CASE("put_nbi", gex_RMA_PutNBI(world, to, there, nowhere, kBytes, GEX_EVENT_NOW, 0));
  CASE("get", gex_RMA_GetBlocking(world, nowhere, to, there, kBytes, 0));
  CASE("get_nb", gex_Event_Wait(gex_RMA_GetNB(world, nowhere, to, there, kBytes, 0)));
  CASE("get_nbi", gex_RMA_GetNBI(world, nowhere, to, there, kBytes, 0));
  CASE("vector_put", gex_VIS_VectorPutBlocking(world, to, 1, far, 1, none, 0));
  CASE("vector_get", gex_VIS_VectorGetBlocking(world, 1, none, to, 1, far, 0));
  CASE("indexed_put", gex_VIS_IndexedPutBlocking(world, to, 1, list, 64, 1, no_list, 64, 0));
  CASE("indexed_get", gex_VIS_IndexedGetBlocking(world, 1, no_list, 64, to, 1, list, 64, 0));
  CASE("strided_put", gex_VIS_StridedPutBlocking(world, to, there, strides, nowhere, strides, 8, counts, 1, 0));
  CASE("exit", gasnet_exit(3));
  CASE("strided_get", gex_Event_Wait(gex_VIS_StridedGetNB(world, nowhere, strides, to, there, strides, 8, counts, 1, 0)));
}

// wrong <case> <self or next>
int main(int argc, char** argv) {
  OK(gex_Client_Init(&client, &endpoint, &world, "WRONG", &argc, &argv, 0));
  OK(gex_Segment_Attach(&segment, world, 65536));
  me = gex_TM_QueryRank(world);
  gex_AM_Entry_t table[] = {
      {kTake, (gex_AM_Fn_t)take, GEX_FLAG_AM_REQUEST | GEX_FLAG_AM_MEDLONG, 0, NULL, "take"},
      {kAsk, (gex_AM_Fn_t)ask, GEX_FLAG_AM_REQUEST | GEX_FLAG_AM_MEDIUM, 0, NULL, "ask"},
      {kTaken, (gex_AM_Fn_t)take, GEX_FLAG_AM_REPLY | GEX_FLAG_AM_LONG, 0, NULL, "taken"},
  };
  OK(gex_EP_RegisterHandlers(endpoint, table, sizeof table / sizeof table[0]));
  to = argc > 2 && strcmp(argv[2], "self") == 0 ? me : (me + 1) % gex_TM_QuerySize(world);
  gex_Event_Wait(gex_EP_QueryBoundSegmentNB(world, to, (void**)&there, NULL, NULL, 0));
  gex_Event_Wait(gex_Coll_BarrierNB(world, 0));
  if (argc > 1 && me == 0) run(argv[1]);
  gex_Event_Wait(gex_Coll_BarrierNB(world, 0));
  if (me == 0) puts("nothing was wrong");
  return 0;
}
