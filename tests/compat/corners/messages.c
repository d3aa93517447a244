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
// Answers by a payload of negotiated size, shorter than what was asked for: medium if the argument is 0, else long.
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
    gex_AM_SrcDesc_t room = gex_AM_PrepareReplyLong(token, NULL, 1, 400, kind == 1 ? place : NULL, NULL, 0, 1);
    ((char*)gex_AM_SrcDescAddr(room))[0] = first;
    gex_AM_CommitReplyLong1(room, kAnswer, kind == 2 ? 0 : 1, place, first);
  }
}
static void answered(unsigned count) {  // before the next one: they share places
  GASNET_BLOCKUNTIL(gasnett_atomic_read(&answers, 0) == count);
}
void messages(gex_TM_t team) {
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
  }
  gasnett_atomic_set(&answers, 0, 0);
  barrier(team);
}
void register_handlers(void) {
  gex_AM_Entry_t table[] = {
      {kAsk, (gex_AM_Fn_t)ask, GEX_FLAG_AM_REQUEST | GEX_FLAG_AM_MEDIUM, 0, NULL, NULL},
      {kAnswer, (gex_AM_Fn_t)answer, GEX_FLAG_AM_REPLY | GEX_FLAG_AM_MEDLONG, 1, NULL, "answer"},
      {kAskLong, (gex_AM_Fn_t)ask_long, GEX_FLAG_AM_REQUEST | GEX_FLAG_AM_MEDLONG, 1, NULL, "ask"},
  };
  OK(gex_EP_RegisterHandlers(endpoint, table, sizeof table / sizeof table[0]));
}
