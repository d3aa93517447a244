// Puts and gets.
#include "tests/compat/client/client.h"

void transfers(void) {
  unsigned char out[3000], back[3000];
  for (size_t i = 0; i < sizeof out; ++i) out[i] = (unsigned char)(i * 3 + me);
  const size_t sizes[] = {1, 2, 3, 4, 7, 8, 9, 3000};
  for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; ++i) {
    const size_t bytes = sizes[i];
    gex_Event_t leaf = GEX_EVENT_NO_OP;
    char* at = theirs + 4096;
    OK(gex_RMA_PutBlocking(world, next, at, out, bytes, 0));
    gex_Event_t events[2];
    events[1] = GEX_EVENT_INVALID;
    events[0] = gex_RMA_PutNB(world, next, at + 4096, out, bytes, &leaf, 0);
    events[1] = leaf;  // a root before its leaf
    gex_Event_WaitAll(events, 2, 0);
    HOLDS(events[0] == GEX_EVENT_INVALID && events[1] == GEX_EVENT_INVALID);
    OK(gex_RMA_PutNBI(world, next, at + 8192, out, bytes, GEX_EVENT_GROUP, 0));
    gex_NBI_Wait(GEX_EC_LC, 0);
    gex_NBI_Wait(GEX_EC_PUT, 0);
    gex_NBI_BeginAccessRegion(0);
    OK(gex_RMA_PutNBI(world, next, at + 12288, out, bytes, GEX_EVENT_DEFER, 0));
    const gex_Event_t region = gex_NBI_EndAccessRegion(0);
    gex_Event_Wait(gex_Event_QueryLeaf(region, GEX_EC_LC));
    gex_Event_Wait(region);
    for (int form = 0; form < 4; ++form) {
      memset(back, 0, sizeof back);
      void* const from = at + 4096 * form;
      if (form == 0) OK(gex_RMA_GetBlocking(world, back, next, from, bytes, 0));
      if (form == 1) gex_Event_Wait(gex_RMA_GetNB(world, back, next, from, bytes, 0));
      if (form >= 2) {
        OK(gex_RMA_GetNBI(world, back, next, from, bytes, 0));
        gex_NBI_Wait(GEX_EC_GET, 0);
      }
      HOLDS(memcmp(out, back, bytes) == 0);
    }
    if (bytes <= 8) {
      gex_RMA_Value_t value = 0;
      memcpy(&value, out, bytes);
      OK(gex_RMA_PutBlockingVal(world, next, at, value, bytes, 0));
      HOLDS(gex_RMA_GetBlockingVal(world, next, at, bytes, 0) == value);
    }
  }
  barrier();
}

// A region's leaf for gets is not done before its gets are. (Over mapped memory they end at once: udp shows it.)
void regions(void) {
  unsigned char out[3000], back[3000];
  char* const at = theirs + 24576;
  for (int round = 0; round < 50; ++round) {
    memset(out, round + (int)me, sizeof out);
    memset(back, ~round, sizeof back);
    OK(gex_RMA_PutBlocking(world, next, at, out, sizeof out, 0));
    gex_NBI_BeginAccessRegion(0);
    OK(gex_RMA_GetNBI(world, back, next, at, sizeof back, 0));
    gex_Event_t all = gex_NBI_EndAccessRegion(0);
    gex_Event_Wait(gex_Event_QueryLeaf(all, GEX_EC_GET));
    HOLDS(memcmp(out, back, sizeof back) == 0);
    gex_Event_Wait(all);
    gex_NBI_BeginAccessRegion(0);
    OK(gex_RMA_PutNBI(world, next, at, out, sizeof out, GEX_EVENT_DEFER, 0));
    all = gex_NBI_EndAccessRegion(0);
    gex_Event_Wait(gex_Event_QueryLeaf(all, GEX_EC_PUT));
    gex_Event_Wait(all);
  }
  barrier();
}
