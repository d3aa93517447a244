#include "tests/compat/corners/corners.h"

static gasnett_atomic_t answers = gasnett_atomic_init(0);
static void ask(gex_Token_t token, void* payload, size_t bytes) {
  (void)token, (void)payload, (void)bytes;
}
static void answer(gex_Token_t token, void* payload, size_t bytes, gex_AM_Arg_t first) {
  (void)token;
  HOLDS(bytes == 0 || ((char*)payload)[0] == (char)first);
  gasnett_atomic_increment(&answers, 0);
}
// Answers by a payload of negotiated size, shorter than what was asked for: medium if the argument is 0, else long. With 4 more
// of the buffer is filled than is sent.
static void ask_long(gex_Token_t token, void* payload, size_t bytes, gex_AM_Arg_t kind) {
  gex_Token_Info_t info;
  HOLDS((gex_Token_Info(token, &info, GEX_TI_SRCRANK | GEX_TI_EP) & GEX_TI_SRCRANK) != 0);
  const char first = bytes != 0 ? ((char*)payload)[0] : 0;
  char* const place = segment_of(world, info.gex_srcrank) + 600000 + 4096 * (size_t)gex_System_QueryJobRank();
  if (kind == 0) {
    HOLDS(gex_Token_MaxReplyMedium(token, GEX_EVENT_NOW, 0, 1) >= 512);
    gex_AM_SrcDesc_t room = gex_AM_PrepareReplyMedium(token, NULL, 1, 400, NULL, 0, 1);
    HOLDS(gex_AM_SrcDescSize(room) >= 1 && gex_AM_SrcDescSize(room) <= 400);
    ((char*)gex_AM_SrcDescAddr(room))[0] = first;
    gex_AM_CommitReplyMedium1(room, kAnswer, 1, first);
  } else {
    HOLDS(gex_Token_MaxReplyLong(token, GEX_EVENT_NOW, GEX_FLAG_AM_PREPARE_LEAST_ALLOC, 1) >= 512);
    gex_AM_SrcDesc_t room = gex_AM_PrepareReplyLong(token, NULL, 1, 400, kind == 1 || kind == 4 ? place : NULL, NULL, 0, 1);
    if (kind == 4) memset(gex_AM_SrcDescAddr(room), 'x', gex_AM_SrcDescSize(room));
    ((char*)gex_AM_SrcDescAddr(room))[0] = first;
    gex_AM_CommitReplyLong1(room, kAnswer, kind == 2 ? 0 : 1, place, first);
  }
}
static void answered(unsigned count) {  // before the next one: they share places
  GASNET_BLOCKUNTIL(gasnett_atomic_read(&answers, 0) == count);
}
// A lent buffer fits any type and is nobody's memory until it is committed, though the destination is known: what is not sent
// of it arrives nowhere.
static void lent(gex_TM_t team, gex_Rank_t to, char* place, unsigned* wanted) {
  char was[300], is[300];
  memset(was, '-', sizeof was);
  OK(gex_RMA_PutBlocking(team, to, place, was, sizeof was, 0));
  for (int commits = 0; commits < 2; ++commits) {
    gex_AM_SrcDesc_t room = gex_AM_PrepareRequestLong(team, to, NULL, 200, 200, place + 1, NULL, 0, 1);
    HOLDS((uintptr_t)gex_AM_SrcDescAddr(room) % sizeof(long double) == 0);
    memset(gex_AM_SrcDescAddr(room), 'x', 200);
    if (commits) {
      gex_AM_CommitRequestLong1(room, kAskLong, 10, place + 1, 0);
      answered(++*wanted);
      memset(was + 1, 'x', 10);
    } else {
      OK(gex_AM_CancelRequestLong(room, 0));
    }
    OK(gex_RMA_GetBlocking(team, is, to, place, sizeof is, 0));
    HOLDS(memcmp(is, was, sizeof is) == 0);
  }
  char* const answer_at = mine + 600000 + 4096 * (size_t)gex_TM_TranslateRankToJobrank(team, to);
  memset(answer_at, '-', sizeof is);
  gex_AM_RequestMedium1(team, to, kAskLong, "a", 1, GEX_EVENT_NOW, 0, 4);
  answered(++*wanted);
  HOLDS(answer_at[0] == 'a' && memcmp(answer_at + 1, was + 11, sizeof is - 11) == 0);
}
// Immediate commits are refused when the target does not poll. The payload may then go elsewhere.
enum { kFloodAt = 500000, kFloodEnds = 499000, kMostInFlight = 100000 };
static unsigned flooded = 0;
static void flood(gex_Token_t token, void* payload, size_t bytes) {
  (void)token, (void)bytes;
  flooded += *(char*)payload == 'b' ? 1000000u : 1u;
}
static char* mapped(gex_Rank_t rank) {
  void* here = NULL;
  gex_Event_Wait(gex_EP_QueryBoundSegmentNB(world, rank, NULL, &here, NULL, 0));
  return here;
}
static void refused_commit(void) {
  const gex_Rank_t to = ranks - 1;
  volatile char* const ends = mine + kFloodEnds;
  barrier(world);
  if (me == 0 && to != 0 && mapped(to) != NULL) {
    char* const theirs = mapped(to);
    char* const there = segment_of(world, to) + kFloodAt;
    const char none[2] = {0, 0};
    OK(gex_RMA_PutBlocking(world, to, there, none, 2, 0));
    unsigned sent = 0;
    int refused = 0;
    while (!refused && sent < kMostInFlight) {
      gex_AM_SrcDesc_t room = gex_AM_PrepareRequestLong(world, to, NULL, 1, 1, NULL, NULL, 0, 0);
      *(char*)gex_AM_SrcDescAddr(room) = 'a';
      refused = gex_AM_CommitRequestLong0_v2(room, kFlood, 1, there, GEX_FLAG_IMMEDIATE);
      if (!refused) {
        ++sent;
        continue;
      }
      *(volatile char*)(theirs + kFloodEnds) = 1;  // no call may communicate before the payload is committed
      *(char*)gex_AM_SrcDescAddr(room) = 'b';
      while (gex_AM_CommitRequestLong0_v2(room, kFlood, 1, there + 1, GEX_FLAG_IMMEDIATE) != 0) gasnett_sched_yield();
    }
    HOLDS(refused);
    OK(gex_RMA_PutBlocking(world, to, segment_of(world, to) + kFloodEnds + 8, &sent, sizeof sent, 0));
    OK(gex_RMA_PutBlockingVal(world, to, segment_of(world, to) + kFloodEnds, 2, 1, 0));
  } else if (me == to && to != 0 && mapped(0) != NULL) {
    while (*ends == 0) gasnett_sched_yield();
    GASNET_BLOCKUNTIL(*ends == 2);
    unsigned sent = 0;
    memcpy(&sent, (const char*)ends + 8, sizeof sent);
    GASNET_BLOCKUNTIL(flooded == 1000000 + sent);
    HOLDS(mine[kFloodAt] == 'a' || sent == 0);
    HOLDS(mine[kFloodAt + 1] == 'b');
  }
  barrier(world);
}
void messages(gex_TM_t team) {
  if (team == world) refused_commit();
  const gex_Rank_t members = gex_TM_QuerySize(team), here = gex_TM_QueryRank(team);
  unsigned wanted = 0;
  for (gex_Rank_t step = 0; step < (members < 3 ? members : 3); ++step) {
    const gex_Rank_t to = (here + step) % members;
    char* const place = segment_of(team, to) + 700000 + 4096 * me;
    const size_t most = gex_AM_MaxRequestLong(team, to, GEX_EVENT_NOW, GEX_FLAG_AM_PREPARE_LEAST_ALLOC, 16);
    HOLDS(most >= 512 && most <= gex_AM_MaxRequestLong(team, to, NULL, 0, 0));
    HOLDS(gex_AM_MaxRequestMedium(team, GEX_RANK_INVALID, GEX_EVENT_NOW, 0, 16) <= gex_AM_MaxRequestMedium(team, to, GEX_EVENT_NOW, 0, 0));
    char buffer[600];
    for (int kind = 0; kind < 4; ++kind) {
      memset(buffer, 'a' + kind, sizeof buffer);
      // Of the client's, with each kind of local completion.
      gex_Event_t local = GEX_EVENT_NO_OP;
      gex_AM_SrcDesc_t room = gex_AM_PrepareRequestMedium(team, to, buffer, 1, sizeof buffer, &local, 0, 1);
      HOLDS(gex_AM_SrcDescAddr(room) == buffer && gex_AM_SrcDescSize(room) >= 1);
      gex_AM_CommitRequestMedium1(room, kAskLong, 1, kind);
      gex_Event_Wait(local);
      answered(++wanted);
      room = gex_AM_PrepareRequestLong(team, to, buffer, 0, sizeof buffer, kind % 2 != 0 ? place : NULL, GEX_EVENT_GROUP, 0, 1);
      gex_AM_CommitRequestLong1(room, kAskLong, gex_AM_SrcDescSize(room), place, kind);
      gex_NBI_Wait(GEX_EC_AM, 0);
      answered(++wanted);
      // Of the library's; one is given back first.
      room = gex_AM_PrepareRequestLong(team, to, NULL, 100, 500, kind % 2 != 0 ? place : NULL, NULL, 0, 1);
      OK(gex_AM_CancelRequestLong(room, 0));
      room = gex_AM_PrepareRequestLong(team, to, NULL, 100, 500, kind % 2 != 0 ? place : NULL, NULL, 0, 1);
      HOLDS(gex_AM_SrcDescSize(room) >= 100 && gex_AM_SrcDescSize(room) <= 500 && (uintptr_t)gex_AM_SrcDescAddr(room) % 8 == 0);
      memset(gex_AM_SrcDescAddr(room), 'z', 100);
      gex_AM_CommitRequestLong1(room, kAskLong, 77, place, kind);
      answered(++wanted);
      while ((room = gex_AM_PrepareRequestMedium(team, to, NULL, 0, 64, NULL, GEX_FLAG_IMMEDIATE, 1)) == GEX_AM_SRCDESC_NO_OP) gasnet_AMPoll();
      while (gex_AM_CommitRequestMedium1_v2(room, kAskLong, 0, GEX_FLAG_IMMEDIATE, kind) != 0) gasnet_AMPoll();
      answered(++wanted);
    }
    while (gex_AM_RequestLong1(team, to, kAskLong, buffer, 600, place, GEX_EVENT_GROUP, GEX_FLAG_IMMEDIATE, 0) != 0) gasnet_AMPoll();
    gex_NBI_Wait(GEX_EC_AM, 0);
    gex_AM_RequestLong1(team, to, kAskLong, NULL, 0, NULL, GEX_EVENT_NOW, 0, 0);
    wanted += 2;
    answered(wanted);
    lent(team, to, place, &wanted);
  }
  gasnett_atomic_set(&answers, 0, 0);
  barrier(team);
}
// Tables with a wrong entry are refused as a whole: none of their indices is taken.
static void wrong_tables(void) {
  const gex_Flags_t all = GEX_FLAG_AM_REQUEST | GEX_FLAG_AM_MEDIUM;
  const gex_AM_Entry_t good = {kWrong, (gex_AM_Fn_t)ask, all, 0, NULL, NULL};
  gex_AM_Entry_t tables[9][2];
  for (int i = 0; i < 9; ++i) tables[i][0] = tables[i][1] = good;  // the last one has an index twice
  tables[0][1].gex_fnptr = NULL;
  tables[1][1].gex_nargs = gex_AM_MaxArgs() + 1;
  tables[2][1].gex_flags = GEX_FLAG_AM_MEDIUM;
  tables[3][1].gex_flags = GEX_FLAG_AM_REQUEST;
  tables[4][1].gex_flags = all | GEX_FLAG_AM_SHORT;
  tables[5][1].gex_index = GEX_AM_INDEX_BASE - 1;
  tables[6][1].gex_index = 1;
  tables[7][1].gex_index = kAsk;  // of the endpoint
  gex_AM_Entry_t many[256 - GEX_AM_INDEX_BASE];
  for (int i = 0; i < 256 - GEX_AM_INDEX_BASE; ++i) many[i] = good, many[i].gex_index = 0;
  gex_System_SetVerboseErrors(0);
  for (int i = 0; i < 9; ++i) {
    tables[i][1].gex_index = i < 5 ? kWrong + 1 : tables[i][1].gex_index;
    HOLDS(gex_EP_RegisterHandlers(endpoint, tables[i], 2) == GASNET_ERR_BAD_ARG);
  }
  HOLDS(gex_EP_RegisterHandlers(endpoint, many, sizeof many / sizeof many[0]) == GASNET_ERR_BAD_ARG);
  HOLDS(many[0].gex_index == 0);
  HOLDS(gex_EP_RegisterHandlers(endpoint, NULL, 1) == GASNET_ERR_BAD_ARG);
  gex_System_SetVerboseErrors(1);
  OK(gex_EP_RegisterHandlers(endpoint, NULL, 0));
  OK(gex_EP_RegisterHandlers(endpoint, tables[0], 1));  // its index is free still
}
void register_handlers(void) {
  gex_AM_Entry_t table[] = {
      {kAsk, (gex_AM_Fn_t)ask, GEX_FLAG_AM_REQUEST | GEX_FLAG_AM_MEDIUM, 0, NULL, NULL},
      {kAnswer, (gex_AM_Fn_t)answer, GEX_FLAG_AM_REPLY | GEX_FLAG_AM_MEDLONG, 1, NULL, "answer"},
      {kFlood, (gex_AM_Fn_t)flood, GEX_FLAG_AM_REQUEST | GEX_FLAG_AM_LONG, 0, NULL, "flood"},
      {kAskLong, (gex_AM_Fn_t)ask_long, GEX_FLAG_AM_REQUEST | GEX_FLAG_AM_MEDLONG, 1, NULL, "ask"},
  };
  OK(gex_EP_RegisterHandlers(endpoint, table, sizeof table / sizeof table[0]));
  wrong_tables();
}
