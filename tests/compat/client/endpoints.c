#include "tests/compat/client/client.h"

// Pieces to and from memory of this rank's that is not published.
static void own_pieces(gex_TM_t pair, char* own) {
  char from[64], back[16];
  for (int i = 0; i < 64; ++i) from[i] = (char)i;
  const ptrdiff_t there[2] = {16, 64}, here[2] = {4, 16};
  const size_t counts[2] = {4, 3};
  OK(gex_VIS_StridedPutBlocking(pair, me, own, there, from, here, 4, counts, 2, 0));
  for (int j = 0; j < 3; ++j)
    for (int i = 0; i < 4; ++i) HOLDS(memcmp(own + 16 * i + 64 * j, from + 4 * i + 16 * j, 4) == 0);
  void* const to[2] = {back, back + 8};
  void* const sources[4] = {own + 64, own, own + 16, own + 128};
  gex_Event_Wait(gex_VIS_IndexedGetNB(pair, 2, to, 8, me, 4, sources, 4, 0));
  HOLDS(back[0] == 16 && back[4] == 0 && back[8] == 4 && back[12] == 32);
  gex_Memvec_t target[2] = {{own + 1000, 3}, {own + 1100, 5}}, source[3] = {{from, 2}, {from + 10, 0}, {from + 20, 6}};
  OK(gex_VIS_VectorPutNBI(pair, me, 2, target, 3, source, 0));
  gex_NBI_Wait(GEX_EC_ALL, 0);
  HOLDS(own[1001] == 1 && own[1002] == 20 && own[1100] == 21 && own[1104] == 25);
}

void endpoints(void) {
  gex_EP_t more;
  gex_Segment_t memory;
  static char own[8192];
  OK(gex_EP_Create(&more, client, GEX_EP_CAPABILITY_RMA | GEX_EP_CAPABILITY_VIS, 0));
  OK(gex_Segment_Create(&memory, client, own, sizeof own, GEX_MK_HOST, 0));
  OK(gex_EP_BindSegment(more, memory, 0));
  own_pieces(gex_TM_Pair(endpoint, gex_EP_QueryIndex(more)), own);
  OK(gex_EP_PublishBoundSegment(world, &more, 1, 0));
  const gex_TM_t pair = gex_TM_Pair(endpoint, gex_EP_QueryIndex(more));
  char* const at = segment_of(pair, next);
  OK(gex_RMA_PutBlocking(pair, next, at, &me, sizeof me, 0));
  barrier();
  HOLDS(*(volatile gex_Rank_t*)own == (me + ranks - 1) % ranks);
  gex_System_SetVerboseErrors(0);
  HOLDS(gex_EP_BindSegment(more, memory, 0) == GASNET_ERR_BAD_ARG);
  gex_MK_t kind;
  gex_MK_Create_args_t args;
  memset(&args, 0, sizeof args);
  args.gex_class = GEX_MK_CLASS_CUDA_UVA;
  HOLDS(gex_MK_Create(&kind, client, &args, 0) != GASNET_OK);
  gex_System_SetVerboseErrors(1);
}
