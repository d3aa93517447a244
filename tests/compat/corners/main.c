#include "tests/compat/corners/corners.h"

gex_Client_t client;
gex_EP_t endpoint;
gex_TM_t world;
gex_Rank_t me, ranks;
char* mine;

void barrier(gex_TM_t tm) { gex_Coll_BarrierBlocking(tm, 0); }
char* segment_of(gex_TM_t tm, gex_Rank_t rank) {
  void* address = NULL;
  uintptr_t size = 0;
  // Immediate, as handlers ask too; this layer always knows.
  HOLDS(gex_EP_QueryBoundSegmentNB(tm, rank, &address, NULL, &size, GEX_FLAG_IMMEDIATE) == GEX_EVENT_INVALID);
  HOLDS(size != 0);
  return address;
}

int main(int argc, char** argv) {
  OK(gex_Client_Init(&client, &endpoint, &world, "CORNERS_2", &argc, &argv, 0));
  me = gex_TM_QueryRank(world);
  ranks = gex_TM_QuerySize(world);
  register_handlers();
  // Of nothing, before anybody has a segment.
  const gex_Rank_t next = (me + 1) % ranks;
  gex_Memvec_t empty[1] = {{NULL, 0}};
  OK(gex_VIS_VectorPutBlocking(world, next, 0, NULL, 0, NULL, 0));
  gex_Event_Wait(gex_VIS_VectorGetNB(world, 1, empty, next, 0, NULL, 0));
  OK(gex_VIS_IndexedPutNBI(world, next, 0, NULL, 8, 0, NULL, 4, 0));
  OK(gex_VIS_IndexedGetBlocking(world, 0, NULL, 0, next, 0, NULL, 0, 0));
  OK(gex_RMA_PutBlocking(world, next, NULL, NULL, 0, 0));
  gex_Segment_t segment;
  if (argc > 1 && strcmp(argv[1], "created") == 0) {  // in place of gex_Segment_Attach
    OK(gex_Segment_Create(&segment, client, NULL, kSegment, GEX_MK_HOST, 0));
    OK(gex_EP_BindSegment(endpoint, segment, 0));
    OK(gex_EP_PublishBoundSegment(world, &endpoint, 1, 0));
  } else {
    OK(gex_Segment_Attach(&segment, world, kSegment));
  }
  HOLDS(gex_EP_QuerySegment(endpoint) == segment);
  mine = gex_Segment_QueryAddr(segment);
  barrier(world);
  system_queries();
  on(world);
  segments();
  kinds();
  endpoints();
  teams();
  if (me == 0) puts("all right");
  gasnet_exit(0);
}
