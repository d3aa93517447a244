// A client of GASNet-EX in C that holds as many events as there are (AQUEDUCT_OPERATIONS=16), and goes on: no call without
// GEX_FLAG_IMMEDIATE says that it has not begun, and a barrier does not wait for the others.

#include <gasnet_coll.h>
#include <gasnet_ratomic.h>
#include <gasnet_vis.h>
#include <gasnetex.h>

#include "tests/compat/check.h"

#include <string.h>

enum { kHeld = 16, kTake = 200, kArrived = 201 };

static gex_Client_t client;
static gex_EP_t endpoint;
static gex_TM_t world, half;
static gex_Segment_t segment;
static gex_Rank_t me, ranks, next;
static char* there;
static gex_Event_t held[kHeld];
static gasnett_atomic_t taken = gasnett_atomic_init(0);
static gasnett_atomic_t arrived[2] = {gasnett_atomic_init(0), gasnett_atomic_init(0)};  // at a barrier of all, or of the half
static char out[100000], back[100000];

static void take(gex_Token_t token, void* payload, size_t bytes) {
  (void)token, (void)payload, (void)bytes;
  gasnett_atomic_increment(&taken, 0);
}
static void another_arrived(gex_Token_t token, gex_AM_Arg_t which) {
  (void)token;
  gasnett_atomic_increment(&arrived[which], 0);
}

static gex_Event_t begun(gex_Event_t event) {
  HOLDS(event != GEX_EVENT_NO_OP);
  return event;
}
// Events of puts that were in flight, until there are no more.
static void hold_all(void) {
  int count = 0;
  for (int i = 0; i < 10000 && count < kHeld; ++i) {
    const gex_Event_t event = begun(gex_RMA_PutNB(world, next, there + 500000, out, 64, GEX_EVENT_DEFER, 0));
    if (event != GEX_EVENT_INVALID) held[count++] = event;
  }
  HOLDS(count == kHeld);
}

static void transfers(void) {
  gex_Event_t leaf = GEX_EVENT_NO_OP;
  gex_Event_t event = begun(gex_RMA_PutNB(world, next, there, out, sizeof out, &leaf, 0));
  gex_Event_Wait(begun(leaf));
  gex_Event_Wait(event);
  gex_Event_Wait(begun(gex_RMA_GetNB(world, back, next, there, sizeof back, 0)));
  HOLDS(memcmp(out, back, sizeof out) == 0);
  gex_Memvec_t far[2] = {{there, 10}, {there + 100, 20}}, near[1] = {{back, 30}};
  void *far_list[2] = {there, there + 5000}, *near_list[2] = {back + 3000, back};
  const ptrdiff_t far_strides[1] = {64}, near_strides[1] = {16};
  const size_t count[1] = {50};
  event = begun(gex_VIS_VectorPutNB(world, next, 2, far, 1, near, GEX_FLAG_ENABLE_LEAF_LC));
  gex_Event_Wait(begun(gex_Event_QueryLeaf(event, GEX_EC_LC)));
  gex_Event_Wait(event);
  gex_Event_Wait(begun(gex_VIS_VectorGetNB(world, 1, near, next, 2, far, 0)));
  gex_Event_Wait(begun(gex_VIS_IndexedPutNB(world, next, 2, far_list, 2000, 2, near_list, 2000, GEX_FLAG_ENABLE_LEAF_LC)));
  gex_Event_Wait(begun(gex_VIS_IndexedGetNB(world, 2, near_list, 2000, next, 2, far_list, 2000, 0)));
  gex_Event_Wait(begun(gex_VIS_StridedPutNB(world, next, there, far_strides, back, near_strides, 8, count, 1, GEX_FLAG_ENABLE_LEAF_LC)));
  gex_Event_Wait(begun(gex_VIS_StridedGetNB(world, back, near_strides, next, there, far_strides, 8, count, 1, 0)));
  gex_NBI_BeginAccessRegion(0);
  OK(gex_RMA_PutNBI(world, next, there, out, 5000, GEX_EVENT_GROUP, 0));
  OK(gex_RMA_GetNBI(world, back, next, there + 20000, 5000, 0));
  event = begun(gex_NBI_EndAccessRegion(0));
  gex_Event_Wait(begun(gex_Event_QueryLeaf(event, GEX_EC_LC)));
  gex_Event_Wait(event);
  HOLDS(memcmp(out + 20000, back, 5000) == 0);
}

static void messages(void) {
  gex_Event_t event = GEX_EVENT_NO_OP;
  OK(gex_AM_RequestMedium0(world, next, kTake, out, 500, &event, 0));
  gex_Event_Wait(begun(event));
  event = GEX_EVENT_NO_OP;
  OK(gex_AM_RequestLong0(world, next, kTake, out, 50000, there, &event, 0));
  gex_Event_Wait(begun(event));
  event = GEX_EVENT_NO_OP;
  gex_AM_SrcDesc_t one = gex_AM_PrepareRequestMedium(world, next, out, 1, 400, &event, 0, 0);
  gex_AM_CommitRequestMedium0(one, kTake, 300);
  gex_Event_Wait(begun(event));
  one = gex_AM_PrepareRequestMedium(world, next, NULL, 1, 400, NULL, 0, 0);
  memset(gex_AM_SrcDescAddr(one), 1, 100);
  gex_AM_CommitRequestMedium0(one, kTake, 100);
  GASNET_BLOCKUNTIL(gasnett_atomic_read(&taken, 0) == 4);
}

// A barrier is begun by all others before rank 0 begins it.
static void barrier(gex_TM_t team, int form) {
  const gex_Rank_t members = gex_TM_QuerySize(team);
  const int which = team == half;
  if (gex_TM_QueryRank(team) == 0) {
    GASNET_BLOCKUNTIL(gasnett_atomic_read(&arrived[which], 0) == members - 1);
    gasnett_atomic_set(&arrived[which], 0, 0);
  }
  gex_Event_t event = begun(gex_Coll_BarrierNB(team, 0));
  if (gex_TM_QueryRank(team) != 0) OK(gex_AM_RequestShort1(team, 0, kArrived, 0, which));
  gex_Event_t both[3] = {GEX_EVENT_INVALID, event, GEX_EVENT_INVALID};
  if (form == 0) gex_Event_Wait(event);
  while (form == 1 && gex_Event_Test(event) != GASNET_OK) gasnet_AMPoll();
  if (form == 2) gex_Event_WaitAll(both, 3, 0);
  if (form == 3) gex_Event_WaitSome(both, 3, 0);
  while (form == 4 && gex_Event_TestAll(both, 3, 0) != GASNET_OK) gasnet_AMPoll();
}

static void add_bytes(const void* left, void* right, size_t count, const void* bytes) {
  for (size_t i = 0; i < count * *(const size_t*)bytes; ++i) ((unsigned char*)right)[i] += ((const unsigned char*)left)[i];
}
static void collectives(gex_TM_t team) {
  const gex_Rank_t members = gex_TM_QuerySize(team);
  uint32_t word = gex_TM_QueryRank(team) == 0 ? 4711 : 0, sum = 0;
  gex_Event_Wait(begun(gex_Coll_BroadcastNB(team, 0, &word, &word, sizeof word, 0)));
  HOLDS(word == 4711);
  word = 1;
  gex_Event_Wait(begun(gex_Coll_ReduceToAllNB(team, &sum, &word, GEX_DT_U32, 4, 1, GEX_OP_ADD, NULL, NULL, 0)));
  HOLDS(sum == members);
  gex_Event_Wait(begun(gex_Coll_ReduceToOneNB(team, members - 1, &sum, &members, GEX_DT_U32, 4, 1, GEX_OP_MAX, NULL, NULL, 0)));
  static size_t sizes[2] = {8, 100};  // the second is gathered on teams other than that of all ranks
  for (int i = 0; i < 2; ++i) {
    unsigned char ones[200], sums[200];
    memset(ones, 1, sizeof ones);
    memset(sums, 0, sizeof sums);
    gex_Event_Wait(begun(gex_Coll_ReduceToAllNB(team, sums, ones, GEX_DT_USER, sizes[i], 2, GEX_OP_USER, add_bytes, &sizes[i], 0)));
    HOLDS(sums[0] == members && sums[2 * sizes[i] - 1] == members);
  }
}

// All but rank 0 hold barriers of two teams, until there are no more events, and then one of the team that attaches.
static void attach_between_barriers(void) {
  gex_TM_t teams[2];
  gex_Event_t begun_here[kHeld + 1];
  for (int i = 0; i < 2; ++i) gex_TM_Split(&teams[i], world, 0, (int)me, NULL, 0, GEX_FLAG_TM_NO_SCRATCH);
  if (me == 0) {
    GASNET_BLOCKUNTIL(gasnett_atomic_read(&arrived[0], 0) == ranks - 1);
    gasnett_atomic_set(&arrived[0], 0, 0);
  }
  for (int i = 0; i < kHeld; ++i) begun_here[i] = begun(gex_Coll_BarrierNB(teams[i % 2], 0));
  begun_here[kHeld] = begun(gex_Coll_BarrierNB(world, 0));
  if (me != 0) OK(gex_AM_RequestShort1(world, 0, kArrived, 0, 0));
  OK(gex_Segment_Attach(&segment, world, 1 << 20));
  gex_Event_WaitAll(begun_here, kHeld + 1, 0);
  for (int i = 0; i < 2; ++i) HOLDS(gex_TM_Destroy(teams[i], NULL, 0) == 0);
}

int main(int argc, char** argv) {
  OK(gex_Client_Init(&client, &endpoint, &world, "HELD", &argc, &argv, 0));
  me = gex_TM_QueryRank(world);
  ranks = gex_TM_QuerySize(world);
  next = (me + 1) % ranks;
  gex_AM_Entry_t table[] = {
      {kTake, (gex_AM_Fn_t)take, GEX_FLAG_AM_REQUEST | GEX_FLAG_AM_MEDLONG, 0, NULL, "take"},
      {kArrived, (gex_AM_Fn_t)another_arrived, GEX_FLAG_AM_REQUEST | GEX_FLAG_AM_SHORT, 1, NULL, "another_arrived"},
  };
  OK(gex_EP_RegisterHandlers(endpoint, table, 2));
  attach_between_barriers();
  for (size_t i = 0; i < sizeof out; ++i) out[i] = (char)(i * 7 + me);
  gex_Event_Wait(gex_EP_QueryBoundSegmentNB(world, next, (void**)&there, NULL, NULL, 0));
  gex_TM_Split(&half, world, (int)(me % 2), (int)me, NULL, 0, GEX_FLAG_TM_NO_SCRATCH);
  *(uint64_t*)((char*)gex_Segment_QueryAddr(segment) + 800000) = 0;
  gex_AD_t domain;
  gex_AD_Create(&domain, world, GEX_DT_U64, GEX_OP_FADD, 0);
  gex_Event_Wait(gex_Coll_BarrierNB(world, 0));
  hold_all();
  transfers();
  messages();
  uint64_t old = UINT64_MAX;
  gex_Event_Wait(begun(gex_AD_OpNB_U64(domain, &old, next, there + 800000, GEX_OP_FADD, 3, 0, 0)));
  HOLDS(old == 0);
  for (int form = 0; form < 5; ++form) {
    barrier(half, form);
    barrier(world, form);
  }
  collectives(world);
  collectives(half);
  gex_Event_WaitAll(held, kHeld, 0);
  barrier(world, 0);
  HOLDS(gex_TM_Destroy(half, NULL, 0) == 0);
  if (me == 0) puts("all right");
  return 0;
}
