// Messages of all kinds, and waits for them.
#include "tests/compat/client/client.h"

#include <time.h>
#include <unistd.h>

enum { kPing = 200, kPong = 201, kShort = 202 };

static gasnett_atomic_t pongs = gasnett_atomic_init(0);
static gasnett_atomic_t shorts = gasnett_atomic_init(0);
gasnett_atomic_t notices = gasnett_atomic_init(0);

static void ping(gex_Token_t token, void* payload, size_t bytes, gex_AM_Arg_t a, gex_AM_Arg_t b) {
  gex_Token_Info_t info;
  HOLDS((gex_Token_Info(token, &info, GEX_TI_ALL) & GEX_TI_SRCRANK) != 0);
  HOLDS(info.gex_is_req && info.gex_ep == endpoint && info.gex_entry->gex_index == kPing);
  HOLDS(a == -7 && b == (gex_AM_Arg_t)bytes);
  if (info.gex_is_long) {
    gex_AM_ReplyLong1(token, kPong, payload, bytes, (char*)segment_of(world, info.gex_srcrank) + kSegment / 2, GEX_EVENT_NOW, 0, b);
  } else {
    gex_AM_ReplyMedium1(token, kPong, payload, bytes, GEX_EVENT_NOW, 0, b);
  }
}
static void pong(gex_Token_t token, void* payload, size_t bytes, gex_AM_Arg_t expected) {
  (void)token;
  HOLDS(expected == (gex_AM_Arg_t)bytes);
  HOLDS(bytes == 0 || *(unsigned char*)payload == 0x5a);
  gasnett_atomic_increment(&pongs, 0);
}
static void sum_of_16(gex_Token_t token, gex_AM_Arg_t a0, gex_AM_Arg_t a1, gex_AM_Arg_t a2, gex_AM_Arg_t a3, gex_AM_Arg_t a4,
                      gex_AM_Arg_t a5, gex_AM_Arg_t a6, gex_AM_Arg_t a7, gex_AM_Arg_t a8, gex_AM_Arg_t a9,
                      gex_AM_Arg_t a10, gex_AM_Arg_t a11, gex_AM_Arg_t a12, gex_AM_Arg_t a13, gex_AM_Arg_t a14,
                      gex_AM_Arg_t a15) {
  (void)token;
  HOLDS(a0 + a1 + a2 + a3 + a4 + a5 + a6 + a7 + a8 + a9 + a10 + a11 + a12 + a13 + a14 + a15 == 136);
  gasnett_atomic_increment(&shorts, 0);
}
static void notice(gex_Token_t token, void* payload, size_t bytes) {
  gex_Token_Info_t info;
  HOLDS((gex_Token_Info(token, &info, GEX_TI_ALL) & GEX_TI_SRCRANK) != 0);
  HOLDS(next == me || info.gex_srcrank != me);
  HOLDS(bytes == 4 && memcmp(payload, "done", 4) == 0);
  gasnett_atomic_increment(&notices, 0);
}

void register_handlers(void) {
  gex_AM_Entry_t table[] = {
      {kPing, (gex_AM_Fn_t)ping, GEX_FLAG_AM_REQUEST | GEX_FLAG_AM_MEDLONG, 2, NULL, "ping"},
      {kPong, (gex_AM_Fn_t)pong, GEX_FLAG_AM_REPLY | GEX_FLAG_AM_MEDLONG, 1, NULL, "pong"},
      {kShort, (gex_AM_Fn_t)sum_of_16, GEX_FLAG_AM_REQUEST | GEX_FLAG_AM_SHORT, 16, NULL, "sum"},
      {kNotice, (gex_AM_Fn_t)notice, GEX_FLAG_AM_REPLY | GEX_FLAG_AM_MEDIUM, 0, NULL, "notice"},
      {0, (gex_AM_Fn_t)notice, GEX_FLAG_AM_REQUEST | GEX_FLAG_AM_MEDIUM, 0, NULL, "any"},
  };
  OK(gex_EP_RegisterHandlers(endpoint, table, sizeof table / sizeof table[0]));
  HOLDS(table[4].gex_index == 255);
}

static void wait_for_pongs(unsigned count) {
  GASNET_BLOCKUNTIL(gasnett_atomic_read(&pongs, 0) == count);
  gasnett_atomic_set(&pongs, 0, 0);
}

void messages(void) {
  size_t medium = gex_AM_MaxRequestMedium(world, next, GEX_EVENT_NOW, 0, 2);
  if (gex_AM_LUBReplyLong() < medium) medium = gex_AM_LUBReplyLong();
  HOLDS(medium >= 512 && gex_AM_LUBRequestLong() >= 512);
  char* const buffer = malloc(medium);
  memset(buffer, 0x5a, medium);
  const size_t sizes[] = {0, 1, 512, medium};
  for (size_t i = 0; i < 4; ++i) {
    const size_t bytes = sizes[i];
    gex_Event_t local = GEX_EVENT_NO_OP;
    gex_AM_RequestMedium2(world, next, kPing, buffer, bytes, GEX_EVENT_NOW, 0, -7, (gex_AM_Arg_t)bytes);
    gex_AM_RequestMedium(world, next, kPing, buffer, bytes, &local, 0, -7, (gex_AM_Arg_t)bytes);
    gex_Event_Wait(local);
    gex_AM_RequestLong2(world, next, kPing, buffer, bytes, theirs, GEX_EVENT_GROUP, 0, -7, (gex_AM_Arg_t)bytes);
    gex_NBI_Wait(GEX_EC_AM, 0);
    gex_AM_SrcDesc_t room = gex_AM_PrepareRequestMedium(world, next, NULL, bytes, bytes, NULL, 0, 2);
    HOLDS(gex_AM_SrcDescSize(room) == bytes);
    memset(gex_AM_SrcDescAddr(room), 0x5a, bytes);
    gex_AM_CommitRequestMedium2(room, kPing, bytes, -7, (gex_AM_Arg_t)bytes);
    room = gex_AM_PrepareRequestLong(world, next, buffer, bytes, bytes, NULL, GEX_EVENT_NOW, 0, 2);
    HOLDS(gex_AM_CommitRequestLong2_v2(room, kPing, bytes, theirs, 0, -7, (gex_AM_Arg_t)bytes) == 0);
    wait_for_pongs(5);
    room = gex_AM_PrepareRequestMedium(world, next, NULL, bytes, bytes, NULL, 0, 2);
    OK(gex_AM_CancelRequestMedium(room, 0));
  }
  gex_AM_RequestShort16(world, next, kShort, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16);
  gex_AM_RequestShort(world, next, kShort, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16);
  GASNET_BLOCKUNTIL(gasnett_atomic_read(&shorts, 0) == 2);
  // The handler of a message to oneself has run when the call returns.
  gex_AM_RequestMedium2(world, me, kPing, buffer, 64, GEX_EVENT_NOW, 0, -7, 64);
  HOLDS(gasnett_atomic_read(&pongs, 0) == 1);
  gasnett_atomic_set(&pongs, 0, 0);
  free(buffer);
  barrier();
}

static void short_to(gex_Rank_t rank) {
  gex_AM_RequestShort16(world, rank, kShort, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16);
}
static double seconds(clockid_t of) {
  struct timespec now;
  clock_gettime(of, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}
// Who waits long sleeps, and is woken. Rank 1 waits for an answer that rank 0 holds back.
void waits(void) {
  const unsigned two_and_one = 3;  // two came in messages()
  if (me == 1) {
    const double began = seconds(CLOCK_MONOTONIC), used = seconds(CLOCK_PROCESS_CPUTIME_ID);
    short_to(0);
    GASNET_BLOCKUNTIL(gasnett_atomic_read(&shorts, 0) == two_and_one);
    HOLDS(seconds(CLOCK_PROCESS_CPUTIME_ID) - used < (seconds(CLOCK_MONOTONIC) - began) / 2);
  } else if (me == 0 && ranks > 1) {
    GASNET_BLOCKUNTIL(gasnett_atomic_read(&shorts, 0) == two_and_one);
    usleep(400000);
    short_to(1);
  }
  barrier();
}
