#include "tests/compat/corners/corners.h"

static char out[70000], back[70000];

static gex_Rank_t next_in(gex_TM_t team) { return (gex_TM_QueryRank(team) + 1) % gex_TM_QuerySize(team); }
static char* place_of(gex_TM_t team, gex_Rank_t to) { return segment_of(team, to) + 200000; }

/// Nothing, from nowhere.
static void of_nothing(gex_TM_t team, gex_Rank_t to, char* there) {
  OK(gex_RMA_PutBlocking(team, to, there, NULL, 0, 0));
  OK(gex_RMA_GetBlocking(team, NULL, to, there, 0, 0));
  gex_Event_t leaf = GEX_EVENT_NO_OP;
  gex_Event_Wait(gex_RMA_PutNB(team, to, NULL, NULL, 0, &leaf, 0));
  HOLDS(leaf == GEX_EVENT_INVALID || gex_Event_Test(leaf) == 0);
  gex_Event_Wait(gex_RMA_GetNB(team, NULL, to, NULL, 0, 0));
}

/// Values of every size keep to their bytes.
static void of_values(gex_TM_t team, gex_Rank_t to, char* there) {
  for (size_t bytes = 1; bytes <= 8; ++bytes) {
    OK(gex_RMA_PutBlocking(team, to, there, out, 16, 0));
    gex_RMA_Value_t value = UINT64_C(0x8192a3b4c5d6e7f8), part = 0;
    if (bytes % 3 == 0) OK(gex_RMA_PutBlockingVal(team, to, there + 4, value, bytes, 0));
    if (bytes % 3 == 1) gex_Event_Wait(gex_RMA_PutNBVal(team, to, there + 4, value, bytes, 0));
    if (bytes % 3 == 2) {
      OK(gex_RMA_PutNBIVal(team, to, there + 4, value, bytes, 0));
      gex_NBI_Wait(GEX_EC_PUT, 0);
    }
    memcpy(&part, &value, bytes);
    HOLDS(gex_RMA_GetBlockingVal(team, to, there + 4, bytes, 0) == part);
    OK(gex_RMA_GetBlocking(team, back, to, there, 16, 0));
    HOLDS(memcmp(back, out, 4) == 0 && memcmp(back + 4, &value, bytes) == 0 && memcmp(back + 4 + bytes, out + 4 + bytes, 12 - bytes) == 0);
  }
}

/// Leaves before and after, alone, twice asked for, or not at all.
static void with_leaves(gex_TM_t team, gex_Rank_t to, char* there) {
  for (int form = 0; form < 6; ++form) {
    memset(back, 0, sizeof back);
    gex_Event_t leaf = GEX_EVENT_NO_OP;
    const gex_Event_t root = gex_RMA_PutNB(team, to, there, out, sizeof out, &leaf, 0);
    gex_Event_t both[4] = {GEX_EVENT_INVALID, leaf, GEX_EVENT_INVALID, root};
    if (form == 0) gex_Event_Wait(leaf), gex_Event_Wait(root);
    if (form == 1) gex_Event_Wait(root);
    if (form == 2) gex_Event_WaitAll(both, 4, 0);
    if (form == 3) {
      while (gex_Event_TestAll(both, 4, 0) != GASNET_OK) gasnet_AMPoll();
    }
    if (form == 4) {
      gex_Event_WaitSome(both, 4, 0);
      gex_Event_WaitAll(both, 4, 0);
    }
    if (form == 5) {
      const gex_Event_t asked = gex_Event_QueryLeaf(root, GEX_EC_LC), again = gex_Event_QueryLeaf(root, GEX_EC_LC);
      HOLDS(asked == again || gex_Event_Test(asked) == 0);
      while (gex_Event_Test(root) != GASNET_OK) gasnet_AMPoll();
    }
    gex_Event_Wait(gex_RMA_GetNB(team, back, to, there, sizeof back, 0));
    HOLDS(memcmp(out, back, sizeof out) == 0);
  }
}

/// Lists of no events.
static void no_events(void) {
  gex_Event_t none[3] = {GEX_EVENT_INVALID, GEX_EVENT_INVALID, GEX_EVENT_INVALID};
  HOLDS(gex_Event_TestSome(none, 3, 0) == GASNET_OK && gex_Event_TestAll(none, 3, 0) == GASNET_OK);
  gex_Event_WaitSome(none, 3, 0);
  HOLDS(gex_Event_TestSome(NULL, 0, 0) == GASNET_OK && gex_Event_Test(GEX_EVENT_INVALID) == 0);
  HOLDS(gex_Event_QueryLeaf(GEX_EVENT_INVALID, GEX_EC_LC) == GEX_EVENT_INVALID);
}

/// What is refused has not happened, and may be tried again.
static void at_once(gex_TM_t team, gex_Rank_t to, char* there) {
  const gex_Rank_t members = gex_TM_QuerySize(team);
  for (int i = 0; i < 50; ++i) {
    gex_Event_t event;
    while ((event = gex_RMA_PutNB(team, to, there + i, out + i, 1, GEX_EVENT_NOW, GEX_FLAG_IMMEDIATE)) == GEX_EVENT_NO_OP) gasnet_AMPoll();
    gex_Event_Wait(event);
    while (gex_RMA_PutNBI(team, to, there + 1000, out, 3000, GEX_EVENT_GROUP, GEX_FLAG_IMMEDIATE) != 0) gasnet_AMPoll();
    while (gex_RMA_GetNBI(team, back, to, there + 1000, 1, GEX_FLAG_IMMEDIATE | GEX_FLAG_PEER_NEVER_NBRHD * (members > 99)) != 0) gasnet_AMPoll();
    while (gex_RMA_PutBlocking(team, to, there, out, 5000, GEX_FLAG_IMMEDIATE) != 0) gasnet_AMPoll();
    gex_NBI_Wait(GEX_EC_LC, 0);
    gex_NBI_Wait(GEX_EC_ALL, 0);
  }
}

/// One region with all kinds, one with nothing.
static void in_regions(gex_TM_t team, gex_Rank_t to, char* there) {
  gex_AD_t domain;
  gex_AD_Create(&domain, team, GEX_DT_U64, GEX_OP_FADD | GEX_OP_SET | GEX_OP_GET, 0);
  uint64_t old = 1, stored = 1;
  uint64_t* const word = (uint64_t*)(segment_of(team, to) + 8192 + 8 * me);
  gex_Event_Wait(gex_AD_OpNB_U64(domain, NULL, to, word, GEX_OP_SET, 70, 0, 0));
  gex_NBI_BeginAccessRegion(0);
  OK(gex_RMA_PutNBI(team, to, there, out, 4000, GEX_EVENT_GROUP, 0));
  OK(gex_RMA_GetNBI(team, back, to, there + 10000, 4000, 0));
  OK(gex_AD_OpNBI_U64(domain, &old, to, word, GEX_OP_FADD, 7, 0, 0));
  gex_AM_RequestMedium0(team, to, kAsk, out, 100, GEX_EVENT_GROUP, 0);
  gex_Memvec_t far[2] = {{there + 20000, 10}, {there + 20100, 20}}, near[1] = {{out, 30}};
  OK(gex_VIS_VectorPutNBI(team, to, 2, far, 1, near, GEX_FLAG_ENABLE_LEAF_LC));
  const gex_Event_t region = gex_NBI_EndAccessRegion(0);
  gex_NBI_Wait(GEX_EC_ALL, 0);  // not the region's
  gex_Event_Wait(gex_Event_QueryLeaf(region, GEX_EC_RMW));
  gex_Event_Wait(gex_Event_QueryLeaf(region, GEX_EC_LC));
  gex_Event_Wait(region);
  HOLDS(old == 70 && memcmp(back, out + 10000, 4000) == 0);
  gex_Event_Wait(gex_AD_OpNB_U64(domain, &stored, to, word, GEX_OP_GET, 0, 0, 0));
  HOLDS(stored == 77);
  OK(gex_VIS_VectorGetBlocking(team, 1, near, to, 2, far, 0));
  gex_NBI_BeginAccessRegion(0);
  gex_Event_Wait(gex_NBI_EndAccessRegion(0));
  HOLDS(gex_NBI_Test(GEX_EC_ALL, 0) == 0 && gex_NBI_Test(0, 0) == 0);
  barrier(team);
  gex_AD_Destroy(domain);
}

/// A loop of gets of one's own memory makes progress: a peer's put arrives in it.
static void of_own_records(gex_TM_t team, gex_Rank_t to) {
  const gex_Rank_t self = gex_TM_QueryRank(team);
  const uint64_t full[2] = {7, 1};
  uint64_t got[2] = {0, 0};
  char* const own = place_of(team, self) + 80000;
  memset(own, 0, sizeof got);
  barrier(team);
  const gex_Event_t sent = gex_RMA_PutNB(team, to, place_of(team, to) + 80000, full, sizeof full, GEX_EVENT_DEFER, 0);
  while (got[1] == 0) OK(gex_RMA_GetBlocking(team, got, self, own, sizeof got, 0));
  gex_Event_Wait(sent);
  barrier(team);
  OK(gex_RMA_GetBlocking(team, got, self, own, sizeof got, 0));
  HOLDS(got[0] == 7 && got[1] == 1);
}

void transfers(gex_TM_t team) {
  const gex_Rank_t to = next_in(team);
  char* const there = place_of(team, to);
  for (size_t i = 0; i < sizeof out; ++i) out[i] = (char)(i * 7 + me + 1);
  of_nothing(team, to, there);
  of_values(team, to, there);
  with_leaves(team, to, there);
  no_events();
  at_once(team, to, there);
  in_regions(team, to, there);
  of_own_records(team, next_in(team));
}
