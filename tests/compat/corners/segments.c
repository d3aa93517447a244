#include "tests/compat/corners/corners.h"

void segments(void) {
  gex_EP_t further[3];
  gex_Segment_t made_here[3];
  static char own[5000];
  for (int i = 0; i < 3; ++i) {
    OK(gex_EP_Create(&further[i], client, GEX_EP_CAPABILITY_RMA | GEX_EP_CAPABILITY_VIS, 0));
    HOLDS(gex_EP_QuerySegment(further[i]) == GEX_SEGMENT_INVALID && gex_EP_QueryClient(further[i]) == client);
    // Of the library's and of the client's, each of no round size.
    OK(gex_Segment_Create(&made_here[i], client, i == 1 ? own : NULL, 4999, GEX_MK_HOST, 0));
    HOLDS(gex_Segment_QuerySize(made_here[i]) == 4999 && gex_Segment_QueryAddr(made_here[i]) != NULL);
    HOLDS(gex_Segment_QueryClient(made_here[i]) == client && gex_Segment_QueryFlags(made_here[i]) == 0);
    if (i < 2) OK(gex_EP_BindSegment(further[i], made_here[i], 0));
  }
  const gex_EP_Index_t first = gex_EP_QueryIndex(further[0]);
  const gex_TM_t pair = gex_TM_Pair(endpoint, first), from = gex_TM_Pair(further[1], first);
  HOLDS(pair == gex_TM_Pair(endpoint, first) && pair != from && pair != GEX_TM_INVALID);
  void *owner = NULL, *local = NULL;
  uintptr_t size = 1;
  const gex_Rank_t to = (me + 1) % ranks;
  HOLDS(gex_EP_QueryBoundSegmentNB(pair, me, &owner, &local, &size, GEX_FLAG_IMMEDIATE) == GEX_EVENT_INVALID);
  HOLDS(size == 4999 && owner == gex_Segment_QueryAddr(made_here[0]));
  if (ranks > 1) {
    gex_Event_Wait(gex_EP_QueryBoundSegmentNB(pair, to, NULL, NULL, &size, 0));
    HOLDS(size == 0);
  }
  gex_System_SetVerboseErrors(0);
  HOLDS(gex_EP_BindSegment(further[2], GEX_SEGMENT_INVALID, 0) == GASNET_ERR_BAD_ARG);
  gex_EP_t none;
  HOLDS(gex_EP_Create(&none, client, 0, 0) == GASNET_ERR_BAD_ARG);
  gex_System_SetVerboseErrors(1);
  gex_Segment_Destroy(made_here[2], 0);  // neither bound nor published
  // Each rank publishes another number of them; one has no segment.
  gex_EP_t published[3] = {further[0], further[1], further[2]};
  OK(gex_EP_PublishBoundSegment(world, published, me % 2 == 0 ? 3 : 2, 0));
  OK(gex_EP_PublishBoundSegment(world, NULL, 0, 0));
  for (int i = 0; i < 2; ++i) {
    const gex_TM_t there = gex_TM_Pair(i == 0 ? endpoint : further[0], gex_EP_QueryIndex(further[i]));
    char* const at = segment_of(there, to);
    const char byte = (char)(me + 60 + (gex_Rank_t)i);
    char back = 0;
    OK(gex_RMA_PutBlocking(there, to, at + 4998, &byte, 1, 0));
    gex_Event_Wait(gex_RMA_GetNB(there, &back, to, at + 4998, 1, 0));
    HOLDS(back == byte);
    const ptrdiff_t one[1] = {2};
    const size_t count[1] = {10};
    char row[20], again[20];
    memset(row, byte, sizeof row);
    OK(gex_VIS_StridedPutBlocking(there, to, at, one, row, one, 1, count, 1, 0));
    OK(gex_VIS_StridedGetBlocking(there, again, one, to, at, one, 1, count, 1, 0));
    HOLDS(again[18] == byte);
  }
  barrier(world);
}
