// What a client of GASNet-EX must not do, one case a run: the job ends, with a line that names the call. wrong.sh runs the cases.

#include <gasnet.h>
#include <gasnet_coll.h>
#include <gasnet_mk.h>
#include <gasnet_ratomic.h>
#include <gasnet_vis.h>
#include <gasnetex.h>

#include "tests/compat/check.h"

#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static gex_Client_t client;
static gex_EP_t endpoint, further[2];
static gex_TM_t world;
static gex_Segment_t segment;
static gex_Rank_t me, to;
static char* there;
static void* volatile nowhere = NULL;  // so that the compiler does not warn
static gex_Event_t pending;            // of the rank that acts in the cases test_…: the other one never begins that barrier
static volatile int ready;             // that rank has it

enum { kTake = 200, kAsk = 201, kTaken = 202, kDo = 203, kDone = 204, kBytes = 4096 };

static void take(gex_Token_t token, void* payload, size_t bytes) {
  (void)token, (void)payload, (void)bytes;
}
static void ask(gex_Token_t token, void* payload, size_t bytes) {
  (void)payload;
  gex_AM_ReplyLong0(token, kTaken, nowhere, bytes, there, GEX_EVENT_NOW, 0);
}

static void done(gex_Token_t token, gex_AM_Arg_t again) {
  if (again != 0) gex_AM_ReplyShort1(token, kDone, 0, 0);
}
// What a handler must not do.
static void act_more(gex_Token_t token, gex_AM_Arg_t what);
static void act(gex_Token_t token, gex_AM_Arg_t what) {
  if (what == 0) gex_AM_ReplyShort1(token, kDone, 0, 0), gex_AM_ReplyShort1(token, kDone, 0, 0);
  if (what == 1) gex_AM_ReplyShort1(token, kDone, 0, 1);
  if (what == 2) gex_AM_RequestShort1(world, me, kDo, 0, 9);
  if (what == 3) gasnet_AMPoll();
  if (what == 4) GASNET_BLOCKUNTIL(what == 5);
  if (what == 5) gex_NBI_Wait(GEX_EC_ALL, 0);
  act_more(token, what);
}
// What a handler must not do beside, and what must not come between prepare and commit.
static void act_more(gex_Token_t token, gex_AM_Arg_t what) {
  char byte = 0;
  if (what == 6) gex_RMA_PutBlocking(world, to, there, &byte, 1, 0);
  if (what == 7) gex_Event_Wait(gex_Coll_BarrierNB(world, 0));
  if (what == 8) gex_EP_QueryBoundSegmentNB(world, to, NULL, NULL, NULL, 0);
  if (what == 10) gex_Event_Test(pending);
  if (what == 11) gex_NBI_Test(GEX_EC_ALL, 0);
  if (what == 12) gex_Event_TestSome(&pending, 1, 0);
  if (what == 13) gex_Event_TestAll(&pending, 1, 0);
  if (what == 14) ready = 1;
  if (what == 9) {
    gex_AM_PrepareReplyMedium(token, NULL, 1, 8, NULL, 0, 0);
    gex_AM_ReplyShort1(token, kDone, 0, 0);
  }
}
static void ask_for(int act_number) {
  gex_AM_RequestShort1(world, to, kDo, 0, act_number);
  for (;;) gasnet_AMPoll();  // until the job ends
}

static gex_AM_SrcDesc_t prepared(size_t most) { return gex_AM_PrepareRequestMedium(world, to, NULL, 1, most, NULL, 0, 0); }
static gex_AD_t domain_of(gex_DT_t type, gex_OP_t ops) {
  gex_AD_t domain;
  gex_AD_Create(&domain, world, type, ops, 0);
  return domain;
}

static void never(const void* left, void* right, size_t count, const void* data) {
  (void)left, (void)right, (void)count, (void)data;
}
static void reduce(gex_DT_t type, size_t bytes, size_t count, gex_OP_t op, gex_Coll_ReduceFn_t by) {
  char in[64] = {0}, out[64];
  gex_Event_Wait(gex_Coll_ReduceToAllNB(world, out, in, type, bytes, count, op, by, NULL, 0));
}
static void create(gex_Rank_t first, gex_Rank_t second, size_t args, size_t teams) {
  gex_EP_Location_t list[2] = {{first, 0}, {second, 0}};
  gex_TM_t made;
  gex_TM_Create(&made, teams, world, list, args, NULL, 0, GEX_FLAG_TM_NO_SCRATCH);
}

// Arguments that the specification leaves undefined, and checked builds name; the lists of teams in all builds.
static void run_undefined(const char* what) {
  char memory[64] = {0};
  uint32_t word = 0;
  gex_TM_t team;
#define CASE(name, call) \
  if (strcmp(what, name) == 0) call
  CASE("split_negative", gex_TM_Split(&team, world, -1, 0, NULL, 0, GEX_FLAG_TM_NO_SCRATCH));
  CASE("create_stranger", create(me, 9, 2, 1));
  CASE("create_twice", create(me, me, 2, 1));
  CASE("create_others", create((me + 1) % 2, 0, 1, 1));
  CASE("never_self", gex_RMA_PutBlocking(world, me, there, memory, 8, GEX_FLAG_PEER_NEVER_SELF));
  CASE("never_near", gex_RMA_GetNBI(world, memory, (me + 1) % 2, there, 8, GEX_FLAG_PEER_NEVER_NBRHD));
  CASE("offset", gex_RMA_PutBlocking(world, to, (void*)8, memory, 8, GEX_FLAG_PEER_SEG_OFFSET));
  CASE("put_group", gex_Event_Wait(gex_RMA_PutNB(world, to, there, memory, 8, GEX_EVENT_GROUP, 0)));
  gex_Event_t event;
  CASE("put_event", gex_RMA_PutNBI(world, to, there, memory, 8, &event, 0));
  CASE("value_long", gex_RMA_PutBlockingVal(world, to, there, 1, 9, 0));
  CASE("value_none", (void)gex_RMA_GetBlockingVal(world, to, there, 0, 0));
  CASE("atomic_mine", gex_Event_Wait(gex_AD_OpNB_U32(domain_of(GEX_DT_U32, GEX_OP_ADD), &word, (me + 1) % 2,
                                                     there, GEX_OP_ADD, 1, 0, GEX_FLAG_AD_MY_RANK)));
  CASE("message_defer", gex_AM_RequestMedium0(world, to, kTake, memory, 8, GEX_EVENT_DEFER, 0));
  CASE("commit_arguments", gex_AM_CommitRequestMedium1(prepared(10), kTake, 1, 5));
  CASE("region_sync", (gex_NBI_BeginAccessRegion(0), gex_NBI_Wait(GEX_EC_PUT, 0)));
  CASE("region_test", (gex_NBI_BeginAccessRegion(0), gex_NBI_Test(GEX_EC_GET, 0)));
  CASE("reduce_size", reduce(GEX_DT_I32, 8, 1, GEX_OP_ADD, NULL));
  CASE("reduce_none", reduce(GEX_DT_USER, 0, 1, GEX_OP_USER, never));
  CASE("reduce_types", reduce(GEX_DT_I32 | GEX_DT_U32, 4, 1, GEX_OP_ADD, NULL));
  CASE("reduce_user", reduce(GEX_DT_USER, 4, 1, GEX_OP_ADD, never));
  CASE("reduce_by_nothing", reduce(GEX_DT_USER, 4, 1, GEX_OP_USER, NULL));
#undef CASE
}

// Between prepare and commit; and by endpoints that were not created for it: 1 has RMA alone, 2 has messages alone.
static void run_misplaced(const char* what) {
  char memory[64] = {0};
  uint32_t word = 0;
  gex_TM_t team;
  void *list[1] = {there}, *from[1] = {memory};
  const gex_AD_t domain = strcmp(what, "prepared_atomic") == 0 ? domain_of(GEX_DT_U32, GEX_OP_ADD) : GEX_AD_INVALID;
  if (strncmp(what, "prepared_", 9) == 0) prepared(10);
#define CASE(name, call) \
  if (strcmp(what, name) == 0) call
  CASE("prepared_put", gex_RMA_PutBlocking(world, to, there, memory, 8, 0));
  CASE("prepared_get", gex_RMA_GetNBI(world, memory, to, there, 8, 0));
  CASE("prepared_short", gex_AM_RequestShort1(world, to, kDone, 0, 0));
  CASE("prepared_poll", gasnet_AMPoll());
  CASE("prepared_wait", gex_NBI_Wait(GEX_EC_ALL, 0));
  CASE("prepared_barrier", gex_Coll_BarrierNB(world, 0));
  CASE("prepared_blocking", gex_Coll_BarrierBlocking(world, 0));
  CASE("prepared_named", gasnet_barrier_notify(1, 0));
  CASE("prepared_split", gex_TM_Split(&team, world, 0, 0, NULL, 0, GEX_FLAG_TM_NO_SCRATCH));
  CASE("prepared_atomic", gex_AD_OpNBI_U32(domain, &word, to, there, GEX_OP_ADD, 1, 0, 0));
  CASE("prepared_pieces", gex_VIS_IndexedPutBlocking(world, to, 1, list, 8, 1, from, 8, 0));
  CASE("prepared_test", gex_NBI_Test(GEX_EC_ALL, 0));
  gex_Event_t none = GEX_EVENT_INVALID;
  CASE("prepared_some", gex_Event_TestSome(&none, 1, 0));
  CASE("prepared_each", gex_Event_TestAll(&none, 1, 0));
  CASE("test_prepared", (prepared(10), gex_Event_Test(pending)));
  CASE("prepared_query", gex_EP_QueryBoundSegmentNB(world, to, NULL, NULL, NULL, 0));
  if (strncmp(what, "able_", 5) == 0) {
    const gex_TM_t rma = gex_TM_Pair(endpoint, 1), messages = gex_TM_Pair(endpoint, 2);
    CASE("able_put", gex_RMA_PutBlocking(messages, to, there, memory, 8, 0));
    CASE("able_get", gex_Event_Wait(gex_RMA_GetNB(messages, memory, to, there, 8, 0)));
    CASE("able_pieces", gex_VIS_IndexedPutBlocking(rma, to, 1, list, 8, 1, from, 8, 0));
    CASE("able_short", gex_AM_RequestShort1(rma, to, kDo, 0, 9));
    CASE("able_prepare", gex_AM_PrepareRequestMedium(rma, to, NULL, 1, 8, NULL, 0, 0));
    CASE("able_from", gex_RMA_PutBlocking(gex_TM_Pair(further[1], 0), to, there, memory, 8, 0));
  }
  CASE("destroy_attached", gex_Segment_Destroy(segment, 0));
  CASE("destroy_host", gex_MK_Destroy(GEX_MK_HOST, 0));
#undef CASE
}
// For run_misplaced: two endpoints that lack something, on all ranks.
static void create_endpoints(void) {
  static char memory[2][4096];
  const gex_EP_Capabilities_t alone[2] = {GEX_EP_CAPABILITY_RMA, GEX_EP_CAPABILITY_AM};
  for (int i = 0; i < 2; ++i) {
    gex_Segment_t made;
    OK(gex_EP_Create(&further[i], client, alone[i], 0));
    OK(gex_Segment_Create(&made, client, memory[i], sizeof memory[i], GEX_MK_HOST, 0));
    OK(gex_EP_BindSegment(further[i], made, 0));
  }
  OK(gex_EP_PublishBoundSegment(world, further, 2, 0));
}

// Calls in an order, or with arguments, that cannot be.
static void run_more(const char* what) {
  const gex_TM_t pair = gex_TM_Pair(endpoint, 0);
  gex_TM_t team;
  uint32_t word = 0;
  float real = 0;
  char memory[64] = {0};
#define CASE(name, call) \
  if (strcmp(what, name) == 0) call
  CASE("region_twice", (gex_NBI_BeginAccessRegion(0), gex_NBI_BeginAccessRegion(0)));
  CASE("region_end", gex_NBI_EndAccessRegion(0));
  CASE("prepare_twice", (prepared(10), prepared(10)));
  CASE("prepare_reversed", prepared(0));
  CASE("commit_more", gex_AM_CommitRequestMedium0(prepared(10), kTake, 11));
  CASE("commit_long", gex_AM_CommitRequestLong0(prepared(10), kTake, 1, there));
  CASE("commit_nothing", gex_AM_CommitRequestMedium0(GEX_AM_SRCDESC_NO_OP, kTake, 0));
  if (strcmp(what, "commit_twice") == 0) {
    const gex_AM_SrcDesc_t one = prepared(10);
    gex_AM_CommitRequestMedium0(one, kTake, 1);
    gex_AM_CommitRequestMedium0(one, kTake, 0);
  }
  CASE("commit_elsewhere", gex_AM_CommitRequestLong0(gex_AM_PrepareRequestLong(world, to, NULL, 1, 8, there, NULL, 0, 0), kTake, 1, there + 8));
  CASE("barrier_of_pair", gex_Coll_BarrierNB(pair, 0));
  CASE("split_of_pair", gex_TM_Split(&team, pair, 0, 0, NULL, 0, 0));
  CASE("data_of_pair", gex_TM_QueryCData(pair));
  CASE("destroy_world", gex_TM_Destroy(world, NULL, 0));
  CASE("atomic_op", gex_Event_Wait(gex_AD_OpNB_U32(domain_of(GEX_DT_U32, GEX_OP_ADD), &word, to, there, GEX_OP_FADD, 1, 0, 0)));
  CASE("atomic_type", gex_Event_Wait(gex_AD_OpNB_FLT(domain_of(GEX_DT_U32, GEX_OP_FADD), &real, to, there, GEX_OP_FADD, 1, 0, 0)));
  CASE("atomic_bits", domain_of(GEX_DT_DBL, GEX_OP_XOR));
  CASE("atomic_place", gex_Event_Wait(gex_AD_OpNB_U32(domain_of(GEX_DT_U32, GEX_OP_ADD), NULL, to, there + 2, GEX_OP_ADD, 1, 0, 0)));
  CASE("rank", gex_RMA_PutBlocking(world, 9, there, memory, 8, 0));
  CASE("rank_long", gex_AM_RequestLong0(world, 9, kTake, memory, 8, there, GEX_EVENT_NOW, 0));
  CASE("root", gex_Event_Wait(gex_Coll_BroadcastNB(world, 9, memory, memory, 8, 0)));
  CASE("reduce", gex_Event_Wait(gex_Coll_ReduceToAllNB(world, memory, memory, GEX_DT_I32, 4, 1, GEX_OP_SUB, NULL, NULL, 0)));
  CASE("outside", gex_RMA_PutBlocking(world, to, there + 65536 - 8, memory, 64, 0));
  CASE("outside_get", gex_Event_Wait(gex_RMA_GetNB(world, memory, to, there - 1, 64, 0)));
  CASE("outside_long", gex_AM_RequestLong0(world, to, kTake, memory, 64, there + 65536 - 8, GEX_EVENT_NOW, 0));
  gex_Memvec_t past[2] = {{there, 32}, {there + 65536 - 8, 32}}, all[1] = {{memory, 64}};
  void* past_list[2] = {there, there + 65536 - 8};
  void* all_list[1] = {memory};
  CASE("outside_vector", gex_VIS_VectorPutBlocking(world, to, 2, past, 1, all, 0));
  CASE("outside_indexed", gex_VIS_IndexedGetBlocking(world, 1, all_list, 64, to, 2, past_list, 32, 0));
  CASE("count", gasnet_AMRequestShort(to, kDone, 3, 1));
  CASE("no_op", gex_Event_Wait(GEX_EVENT_NO_OP));
  if (strcmp(what, "held_broadcast") == 0 || strcmp(what, "held_barrier") == 0) {
    for (int i = 0; i < 64; ++i) (void)gex_RMA_PutNB(world, to, there, memory, 64, GEX_EVENT_DEFER, 0);
    if (strcmp(what, "held_barrier") == 0) gasnet_barrier_notify(7, 0);
    gasnet_coll_broadcast(GASNET_TEAM_ALL, memory, me, memory, 8, GASNET_COLL_IN_MYSYNC | GASNET_COLL_OUT_MYSYNC);
  }
  if (strcmp(what, "forked") == 0) {
    const pid_t child = fork();
    if (child == 0) {
      gex_RMA_PutBlocking(world, to, there, memory, 8, 0);
      _exit(9);  // it has reached the parent's job
    }
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status)) _exit(8);
    gasnet_exit(WEXITSTATUS(status));
  }
  CASE("two_replies", ask_for(0));
  CASE("reply_to_reply", ask_for(1));
  CASE("request_in_handler", ask_for(2));
  CASE("poll_in_handler", ask_for(3));
  CASE("wait_in_handler", ask_for(4));
  CASE("sync_in_handler", ask_for(5));
  CASE("put_in_handler", ask_for(6));
  CASE("barrier_in_handler", ask_for(7));
  CASE("query_in_handler", ask_for(8));
  CASE("reply_in_prepared", ask_for(9));
  CASE("test_in_handler", ask_for(10));
  CASE("test_all_nbi_in_handler", ask_for(11));
  CASE("test_some_in_handler", ask_for(12));
  CASE("test_each_in_handler", ask_for(13));
#undef CASE
}

// Of the cases test_…, on all ranks: returns on rank 0, when the rank that acts has an event that does not end.
static void await_pending(gex_Rank_t acts) {
  if (me == acts) pending = gex_Coll_BarrierNB(world, 0);
  if (me == acts && me != 0) gex_AM_RequestShort1(world, 0, kDo, 0, 14);
  if (acts != 0 && me == 0) GASNET_BLOCKUNTIL(ready);
  while (me != 0) gasnet_AMPoll();  // until the job ends
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
  CASE("exit_late", gasnet_exit(3));
  CASE("short_put", gex_RMA_PutBlocking(world, to, there, nowhere, 8, 0));
  CASE("short_put_nb", gex_Event_Wait(gex_RMA_PutNB(world, to, there, nowhere, 64, GEX_EVENT_DEFER, 0)));
  CASE("short_put_nbi", gex_RMA_PutNBI(world, to, there, nowhere, 2000, GEX_EVENT_NOW, 0));
  CASE("short_get", gex_RMA_GetBlocking(world, nowhere, to, there, 8, 0));
  CASE("short_get_nb", gex_Event_Wait(gex_RMA_GetNB(world, nowhere, to, there, 64, 0)));
  CASE("short_get_nbi", gex_RMA_GetNBI(world, nowhere, to, there, 2000, 0));
  run_more(what);
  run_undefined(what);
  run_misplaced(what);
  CASE("strided_get", gex_Event_Wait(gex_VIS_StridedGetNB(world, nowhere, strides, to, there, strides, 8, counts, 1, 0)));
}

// wrong <case> <self or next>
int main(int argc, char** argv) {
  if (argc > 1 && strcmp(argv[1], "segment_limit") == 0) gasnet_max_segsize_str = "a lot";
  OK(gex_Client_Init(&client, &endpoint, &world, "WRONG", &argc, &argv, 0));
  OK(gex_Segment_Attach(&segment, world, 65536));
  me = gex_TM_QueryRank(world);
  gex_AM_Entry_t table[] = {
      {kTake, (gex_AM_Fn_t)take, GEX_FLAG_AM_REQUEST | GEX_FLAG_AM_MEDLONG, 0, NULL, "take"},
      {kAsk, (gex_AM_Fn_t)ask, GEX_FLAG_AM_REQUEST | GEX_FLAG_AM_MEDIUM, 0, NULL, "ask"},
      {kTaken, (gex_AM_Fn_t)take, GEX_FLAG_AM_REPLY | GEX_FLAG_AM_LONG, 0, NULL, "taken"},
      {kDo, (gex_AM_Fn_t)act, GEX_FLAG_AM_REQUEST | GEX_FLAG_AM_SHORT, 1, NULL, "act"},
      {kDone, (gex_AM_Fn_t)done, GEX_FLAG_AM_REPLY | GEX_FLAG_AM_SHORT, 1, NULL, "done"},
  };
  OK(gex_EP_RegisterHandlers(endpoint, table, sizeof table / sizeof table[0]));
  to = argc > 2 && strcmp(argv[2], "self") == 0 ? me : (me + 1) % gex_TM_QuerySize(world);
  gex_Event_Wait(gex_EP_QueryBoundSegmentNB(world, to, (void**)&there, NULL, NULL, 0));
  gex_Event_Wait(gex_Coll_BarrierNB(world, 0));
  if (argc > 1 && strncmp(argv[1], "able_", 5) == 0) create_endpoints();
  if (argc > 2 && strncmp(argv[1], "test_", 5) == 0) await_pending(strcmp(argv[2], "self") == 0 ? 0 : 1);
  if (argc > 1 && me == 0) run(argv[1]);
  if (argc > 1 && strcmp(argv[1], "exit_late") == 0) {
    usleep(2500000);
    puts("late");
    gasnet_exit(3);
  }
  gex_Event_Wait(gex_Coll_BarrierNB(world, 0));
  if (me == 0) puts("nothing was wrong");
  return 0;
}
