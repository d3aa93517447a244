#include "tests/compat/corners/corners.h"

// Calls of GASNet-1's that a client of gasnetex.h alone makes, as BCL does.
static void tables_of_all_ranks(void) {
  gasnet_seginfo_t* const segments = malloc(ranks * sizeof *segments);
  gasnet_nodeinfo_t* const nodes = malloc(ranks * sizeof *nodes);
  OK(gasnet_getSegmentInfo(segments, (int)ranks));
  OK(gasnet_getNodeInfo(nodes, (int)ranks));
  for (gex_Rank_t r = 0; r < ranks; ++r) {
    HOLDS(segments[r].addr == segment_of(world, r) && segments[r].size >= kSegment);
    HOLDS(nodes[r].supernode <= r && nodes[r].host <= r);
  }
  HOLDS(nodes[me].offset == 0);
  free(segments);
  free(nodes);
}
// The client's own limit, in place of the layer's.
const char* gasnet_max_segsize_str = "32MB/P";

void system_queries(void) {
  HOLDS(gasnet_getMaxLocalSegmentSize() <= 32 << 20);
  tables_of_all_ranks();
  gex_RankInfo_t *near_me = NULL, *here = NULL;
  gex_Rank_t near_count = 0, near_index = 0, host_count = 0, host_index = 0, sets[4] = {9, 9, 9, 9};
  gex_System_QueryNbrhdInfo(NULL, NULL, NULL);
  gex_System_QueryHostInfo(NULL, NULL, NULL);
  gex_System_QueryMyPosition(NULL, NULL, NULL, NULL);
  gex_System_QueryNbrhdInfo(&near_me, &near_count, &near_index);
  gex_System_QueryHostInfo(&here, &host_count, &host_index);
  gex_System_QueryMyPosition(&sets[0], &sets[1], &sets[2], &sets[3]);
  HOLDS(near_me[near_index].gex_jobrank == me && here[host_index].gex_jobrank == me && near_count <= host_count);
  HOLDS(sets[1] < sets[0] && sets[3] < sets[2] && sets[0] >= sets[2]);
  for (gex_Rank_t i = 1; i < host_count; ++i) HOLDS(here[i - 1].gex_jobrank < here[i].gex_jobrank);
  HOLDS(gex_System_QueryHiddenAMConcurrencyLevel() == GASNET_HIDDEN_AM_CONCURRENCY_LEVEL);
  HOLDS(strcmp(gex_Client_QueryName(client), "CORNERS_2") == 0 && gex_Client_QueryFlags(client) == 0);
  int data = 0;
  gex_Client_SetCData(client, &data);
  gex_EP_SetCData(endpoint, &ranks);
  HOLDS(gex_Client_QueryCData(client) == &data && gex_EP_QueryCData(endpoint) == &ranks);
  HOLDS(gex_EP_QueryIndex(endpoint) == 0 && gex_EP_QueryFlags(endpoint) == 0);
  HOLDS(strcmp(gasnet_ErrorName(GASNET_ERR_NOT_READY), "GASNET_ERR_NOT_READY") == 0);
  HOLDS(strlen(gasnet_ErrorDesc(GASNET_ERR_RESOURCE)) > 5 && gasnet_ErrorName(77) != NULL && gasnet_ErrorDesc(77) != NULL);
  gex_System_SetVerboseErrors(0);
  HOLDS(gasnet_set_waitmode(17) == GASNET_ERR_BAD_ARG && gex_System_GetVerboseErrors() == 0);
  gex_System_SetVerboseErrors(1);
  for (int mode = GASNET_WAIT_SPIN; mode <= GASNET_WAIT_SPINBLOCK; ++mode) {
    OK(gasnet_set_waitmode(mode));
    barrier(world);
  }
  HOLDS(gasnet_getenv("A_VARIABLE_THAT_NOBODY_HAS") == NULL && gasnet_getenv("PATH") != NULL);
  const gasnett_tick_t began = gasnett_ticks_now();
  gasnett_nsleep(2000000);
  const uint64_t nanoseconds = gasnett_ticks_to_ns(gasnett_ticks_now() - began);
  HOLDS(nanoseconds >= 1900000 && nanoseconds < UINT64_C(20000000000));
  HOLDS(gasnett_ticks_to_us(GASNETT_TICK_MAX) > 0 && gasnett_tick_granularityus() > 0 && gasnett_tick_overheadus() >= 0);
}
