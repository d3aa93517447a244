#include "tests/compat/client/client.h"

static void add_pairs(const void* left, void* right, size_t count, const void* data) {
  HOLDS(data == &me);
  for (size_t i = 0; i < 2 * count; ++i) ((int*)right)[i] += ((const int*)left)[i];
}

void teams(void) {
  gex_TM_t halves = GEX_TM_INVALID;
  gex_TM_Split(&halves, world, (int)(me % 2), -(int)me, NULL, 0, GEX_FLAG_TM_NO_SCRATCH);
  const gex_Rank_t size = gex_TM_QuerySize(halves);
  HOLDS(size == (ranks + 1 - me % 2) / 2);
  HOLDS(gex_TM_TranslateRankToJobrank(halves, gex_TM_QueryRank(halves)) == me);
  HOLDS(gex_TM_TranslateJobrankToRank(halves, me) == gex_TM_QueryRank(halves));
  HOLDS(size == 1 || gex_TM_TranslateRankToJobrank(halves, 0) > gex_TM_TranslateRankToJobrank(halves, 1));
  // The name of a place by another team.
  const gex_Rank_t other = (gex_TM_QueryRank(halves) + 1) % size;
  char* const at = (char*)segment_of(halves, other) + 512;
  gex_RMA_PutBlockingVal(halves, other, at, me, 4, 0);
  HOLDS(gex_RMA_GetBlockingVal(world, gex_TM_TranslateRankToJobrank(halves, other), at, 4, 0) == me);

  int32_t mine[3] = {(int)me, 1, -(int)me}, sum[3];
  gex_Event_Wait(gex_Coll_ReduceToAllNB(halves, sum, mine, GEX_DT_I32, 4, 3, GEX_OP_ADD, NULL, NULL, 0));
  HOLDS(sum[1] == (int)size && sum[0] == -sum[2]);
  double most = me;
  gex_Event_Wait(gex_Coll_ReduceToOneNB(world, ranks - 1, &most, &most, GEX_DT_DBL, 8, 1, GEX_OP_MAX, NULL, NULL, 0));
  HOLDS(me != ranks - 1 || most == ranks - 1);
  int pair[2] = {1, (int)me}, pairs[2];
  gex_Event_Wait(gex_Coll_ReduceToAllNB(world, pairs, pair, GEX_DT_USER, 8, 1, GEX_OP_USER, add_pairs, &me, 0));
  HOLDS(pairs[0] == (int)ranks && pairs[1] == (int)(ranks * (ranks - 1) / 2));
  int word = me == 0 ? 4711 : 0;
  gex_Event_Wait(gex_Coll_BroadcastNB(world, 0, &word, &word, sizeof word, 0));
  HOLDS(word == 4711);
  HOLDS(gex_TM_Destroy(halves, NULL, 0) == 0);

  OK(gasnet_barrier(12, 0));
  int name = 0;
  HOLDS(gasnet_barrier_result(&name) == 0 && name == 12);
  HOLDS(gasnet_barrier(me == 0 ? 1 : 2, 0) == (ranks == 1 ? GASNET_OK : GASNET_ERR_BARRIER_MISMATCH));
  gasnet_barrier_notify(0, GASNET_BARRIERFLAG_ANONYMOUS);
  int code;
  while ((code = gasnet_barrier_try(0, GASNET_BARRIERFLAG_ANONYMOUS)) == GASNET_ERR_NOT_READY) {
  }
  HOLDS(code == GASNET_OK && gasnet_barrier_result(&name) != 0);
}
