#include "tests/compat/client/client.h"

void pieces(void) {
  enum { kRows = 5, kColumns = 7 };
  int local[kRows][kColumns], back[kRows][kColumns];
  for (int i = 0; i < kRows; ++i) {
    for (int j = 0; j < kColumns; ++j) local[i][j] = i * 100 + j + (int)me * 10000;
  }
  char* const at = theirs + 65536;
  const ptrdiff_t there[2] = {64, 1024}, here[2] = {sizeof(int), sizeof(int) * kColumns};
  const size_t count[2] = {kColumns, kRows};
  gex_VIS_SetPeerCompletionHandler(kNotice, "done", 4, 0);
  gex_Event_Wait(gex_VIS_StridedPutNB(world, next, at, there, local, here, sizeof(int), count, 2, 0));
  OK(gex_VIS_StridedGetBlocking(world, back, here, next, at, there, sizeof(int), count, 2, 0));
  HOLDS(memcmp(local, back, sizeof local) == 0);
  gex_Memvec_t to[2] = {{at, 8}, {at + 100, 4}}, from[1] = {{local, 12}};
  const gex_Event_t event = gex_VIS_VectorPutNB(world, next, 2, to, 1, from, GEX_FLAG_ENABLE_LEAF_LC);
  gex_Event_Wait(gex_Event_QueryLeaf(event, GEX_EC_LC));
  gex_Event_Wait(event);
  void* list[2] = {at, at + 4};
  void* into[1] = {back};
  OK(gex_VIS_IndexedGetNBI(world, 1, into, 8, next, 2, list, 4, 0));
  gex_NBI_Wait(GEX_EC_GET, 0);
  HOLDS(back[0][0] == local[0][0] && back[0][1] == local[0][1]);
  // A put that moves nothing has its notice too, and leaves none for the next put, here one to this rank itself.
  const size_t none[2] = {0, kRows};
  gex_VIS_SetPeerCompletionHandler(kNotice, "done", 4, 0);
  OK(gex_VIS_StridedPutBlocking(world, next, at, there, local, here, sizeof(int), none, 2, 0));
  OK(gex_VIS_StridedPutBlocking(NULL, 99, NULL, NULL, NULL, NULL, 0, NULL, 0, 0)); /* of no bytes: the rest is ignored */
  OK(gex_VIS_StridedPutBlocking(world, me, (char*)segment_of(world, me) + 131072, there, local, here, sizeof(int), count, 2, 0));
  GASNET_BLOCKUNTIL(gasnett_atomic_read(&notices, 0) == 2);
  barrier();
}
