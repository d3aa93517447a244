// The client: with a number as its argument, it ends with that status, by one rank alone; with two, by two threads of it at
// once; with "lock", it takes a lock twice.
#include "tests/compat/client/client.h"

#include <pthread.h>
#include <signal.h>

gex_Client_t client;
gex_EP_t endpoint;
gex_TM_t world;
gex_Rank_t me, ranks, next;
char* theirs;
static gex_Segment_t segment;

void* segment_of(gex_TM_t tm, gex_Rank_t rank) {
  void* address = NULL;
  uintptr_t size = 0;
  // Immediate, as handlers ask too; this layer always knows.
  HOLDS(gex_EP_QueryBoundSegmentNB(tm, rank, &address, NULL, &size, GEX_FLAG_IMMEDIATE) == GEX_EVENT_INVALID);
  HOLDS(size != 0);
  return address;
}
void barrier(void) { gex_Event_Wait(gex_Coll_BarrierNB(world, 0)); }

static void* exit_with(void* status) {
  gasnet_exit(atoi(status));
  return NULL;
}

int main(int argc, char** argv) {
  const size_t least = gex_AM_LUBRequestMedium();  // before the start
  HOLDS(least >= 512 && gex_AM_LUBReplyMedium() >= 512 && gex_AM_LUBRequestLong() >= 512 && gex_AM_LUBReplyLong() >= 512);
  OK(gex_Client_Init(&client, &endpoint, &world, "CLIENT", &argc, &argv, 0));
  me = gex_TM_QueryRank(world);
  ranks = gex_TM_QuerySize(world);
  HOLDS(gex_AM_LUBRequestMedium() >= least);
  next = (me + 1) % ranks;
  register_handlers();
  HOLDS(gasnet_getMaxLocalSegmentSize() >= kSegment);
  gex_System_SetVerboseErrors(0);
  HOLDS(gex_Segment_Attach(&segment, world, gasnet_getMaxLocalSegmentSize() + GASNET_PAGESIZE) == GASNET_ERR_BAD_ARG);
  gex_System_SetVerboseErrors(1);
  OK(gex_Segment_Attach(&segment, world, kSegment));
  HOLDS((uintptr_t)gex_Segment_QueryAddr(segment) % GASNET_PAGESIZE == 0);
  theirs = segment_of(world, next);
  messages();
  waits();
  transfers();
  pieces();
  atomics();
  regions();
  teams();
  reductions();
  endpoints();
  threads();
  barrier();
  if (argc > 1 && strcmp(argv[1], "segv") == 0) raise(SIGSEGV);
  if (argc > 1 && strcmp(argv[1], "lock") == 0) {
    gex_HSL_t lock = GEX_HSL_INITIALIZER;
    gex_HSL_Lock(&lock);
    gex_HSL_Lock(&lock);
  }
  if (argc > 1 && strcmp(argv[1], "tests-locked") == 0) {
    gex_HSL_t lock = GEX_HSL_INITIALIZER;
    gex_HSL_Lock(&lock);
    gex_NBI_Test(GEX_EC_ALL, 0);
  }
  if (argc > 1 && strcmp(argv[1], "locked") == 0) {
    gex_HSL_t lock = GEX_HSL_INITIALIZER;
    gex_HSL_Lock(&lock);
    gex_RMA_PutBlocking(world, next, theirs, &me, sizeof me, 0);
  }
  if (argc > 1) {
    pthread_t other;
    if (me == ranks - 1 && argc > 2) pthread_create(&other, NULL, exit_with, argv[2]);
    if (me == ranks - 1) exit_with(argv[1]);
    for (;;) gasnet_AMPoll();
  }
  if (me == 0) puts("all right");
  return 0;  // as gasnet_exit(0)
}
