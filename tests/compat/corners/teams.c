#include "tests/compat/corners/corners.h"

static gex_TM_t made(size_t count, const gex_Rank_t* members, gex_Flags_t flags, int in) {
  gex_EP_Location_t list[64];
  gex_TM_t team = GEX_TM_INVALID;
  for (size_t i = 0; i < count; ++i) list[i] = (gex_EP_Location_t){members[i], 0};
  const size_t scratch = gex_TM_Create(&team, (size_t)in, world, list, in ? count : 0, NULL, 0, flags | GEX_FLAG_TM_SCRATCH_SIZE_RECOMMENDED);
  HOLDS(team == GEX_TM_INVALID);
  (void)scratch;
  gex_TM_Create(&team, (size_t)in, world, list, in ? count : 0, NULL, 0, flags | GEX_FLAG_TM_NO_SCRATCH);
  return team;
}
void on(gex_TM_t team) {
  const gex_Rank_t members = gex_TM_QuerySize(team);
  HOLDS(gex_TM_QueryClient(team) == client && gex_TM_QueryEP(team) == endpoint);
  for (gex_Rank_t i = 0; i < members; ++i) {
    const gex_Rank_t job = gex_TM_TranslateRankToJobrank(team, i);
    HOLDS(job < ranks && gex_TM_TranslateJobrankToRank(team, job) == i);
    const gex_EP_Location_t where = gex_TM_TranslateRankToEP(team, i, 0);
    HOLDS(where.gex_rank == job && where.gex_ep_index == 0);
    HOLDS(gex_TM_TranslateRankToJobrank(gex_TM_Pair(endpoint, 0), job) == job);
  }
  atomics(team);
  collectives(team);
  transfers(team);
  pieces(team);
  messages(team);
}
void teams(void) {
  gex_Rank_t list[64];
  for (gex_Rank_t i = 0; i < ranks; ++i) list[i] = ranks - 1 - i;
  gex_TM_t team = made(ranks, list, GEX_FLAG_RANK_IS_JOBRANK, 1);  // in reverse
  HOLDS(gex_TM_QueryRank(team) == ranks - 1 - me);
  on(team);
  // Of that one without its first member, from the middle on.
  gex_TM_t part = GEX_TM_INVALID;
  gex_TM_Split(&part, team, gex_TM_QueryRank(team) == 0 ? 1 : 0, gex_TM_QueryRank(team) < ranks / 2 ? 5 : -5, NULL, 0, GEX_FLAG_TM_NO_SCRATCH);
  on(part);
  int data = 0;
  gex_TM_SetCData(part, &data);
  HOLDS(gex_TM_QueryCData(part) == &data && gex_TM_QueryCData(team) == NULL);
  OK(gex_TM_Destroy(part, NULL, GEX_FLAG_GLOBALLY_QUIESCED));
  // Some alone, some in nothing.
  gex_TM_Split(me % 2 == 0 ? &part : NULL, world, (int)me, 0, NULL, 0, GEX_FLAG_TM_NO_SCRATCH);
  if (me % 2 == 0) {
    HOLDS(gex_TM_QuerySize(part) == 1);
    on(part);
    OK(gex_TM_Destroy(part, NULL, 0));
  }
  const gex_Rank_t last[1] = {ranks - 1};
  part = made(1, last, 0, me == ranks - 1);
  HOLDS((part != GEX_TM_INVALID) == (me == ranks - 1));
  // Scratch comes back as it was given.
  void* const given[1] = {mine + kSegment / 2};
  gex_EP_Location_t all[64];
  for (gex_Rank_t i = 0; i < ranks; ++i) all[i] = (gex_EP_Location_t){i, 0};
  gex_TM_t with = GEX_TM_INVALID;
  gex_TM_Create(&with, 1, world, all, ranks, (gex_Addr_t*)given, 4096, GEX_FLAG_TM_LOCAL_SCRATCH);
  gex_Memvec_t scratch = {NULL, 0};
  HOLDS(gex_TM_Destroy(with, &scratch, 0) != 0 && scratch.gex_addr == given[0] && scratch.gex_len == 4096);
  if (part != GEX_TM_INVALID) OK(gex_TM_Destroy(part, NULL, 0));
  OK(gex_TM_Destroy(team, NULL, 0));
}
