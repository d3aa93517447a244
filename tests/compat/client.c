// A client of GASNet-EX in C: a little of each part, with answers that are checked. With a number as its argument, it ends
// with that status, by one rank alone; with two, by two threads of it at once; with "lock", it takes a lock twice.

#include <gasnet_coll.h>
#include <gasnet_mk.h>
#include <gasnet_ratomic.h>
#include <gasnet_vis.h>
#include <gasnetex.h>

#include "tests/compat/check.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static gex_Client_t client;
static gex_EP_t endpoint;
static gex_TM_t world;
static gex_Segment_t segment;
static gex_Rank_t me, ranks, next;
static char* theirs;  // the segment of the next rank

enum { kSegment = 1 << 20, kPing = 200, kPong = 201, kShort = 202, kNotice = 203 };

static void* segment_of(gex_TM_t tm, gex_Rank_t rank) {
  void* address = NULL;
  uintptr_t size = 0;
  gex_Event_Wait(gex_EP_QueryBoundSegmentNB(tm, rank, &address, NULL, &size, 0));
  HOLDS(size != 0);
  return address;
}
static void barrier(void) { gex_Event_Wait(gex_Coll_BarrierNB(world, 0)); }

// ------------------------------------------------------------------------------------------- messages

static gasnett_atomic_t pongs = gasnett_atomic_init(0);
static gasnett_atomic_t shorts = gasnett_atomic_init(0);
static gasnett_atomic_t notices = gasnett_atomic_init(0);

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

static void wait_for_pongs(unsigned count) {
  GASNET_BLOCKUNTIL(gasnett_atomic_read(&pongs, 0) == count);
  gasnett_atomic_set(&pongs, 0, 0);
}

static void messages(void) {
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
static void waits(void) {
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

// ------------------------------------------------------------------------------------------- puts and gets

static void transfers(void) {
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

static void pieces(void) {
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

static void atomics(void) {
  uint64_t* const counter = (uint64_t*)((char*)segment_of(world, 0) + 300000);
  double* const real = (double*)((char*)segment_of(world, 0) + 300008);
  gex_AD_t whole, floating;
  gex_AD_Create(&whole, world, GEX_DT_U64, GEX_OP_FADD | GEX_OP_SUB | GEX_OP_INC | GEX_OP_GET | GEX_OP_FCAS, 0);
  gex_AD_Create(&floating, world, GEX_DT_DBL, GEX_OP_MAX | GEX_OP_GET, 0);
  uint64_t old = 0;
  gex_Event_Wait(gex_AD_OpNB_U64(whole, &old, 0, counter, GEX_OP_FADD, 5, 0, 0));
  HOLDS(old <= 4 * (uint64_t)ranks);
  OK(gex_AD_OpNBI_U64(whole, NULL, 0, counter, GEX_OP_SUB, 2, 0, 0));
  OK(gex_AD_OpNBI_U64(whole, NULL, 0, counter, GEX_OP_INC, 0, 0, GEX_FLAG_AD_REL));
  OK(gex_AD_OpNBI_DBL(floating, NULL, 0, real, GEX_OP_MAX, me + 0.5, 0, 0));
  gex_NBI_Wait(GEX_EC_RMW, 0);
  barrier();
  double most = 0;
  gex_Event_Wait(gex_AD_OpNB_U64(whole, &old, 0, counter, GEX_OP_GET, 0, 0, 0));
  gex_Event_Wait(gex_AD_OpNB_DBL(floating, &most, 0, real, GEX_OP_GET, 0, 0, 0));
  HOLDS(old == 4 * (uint64_t)ranks && most == ranks - 0.5);
  barrier();
  gex_AD_Destroy(whole);
  gex_AD_Destroy(floating);
}

// ------------------------------------------------------------------------------------------- teams, collectives

static void add_pairs(const void* left, void* right, size_t count, const void* data) {
  HOLDS(data == &me);
  for (size_t i = 0; i < 2 * count; ++i) ((int*)right)[i] += ((const int*)left)[i];
}

static void teams(void) {
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

// A region's leaf for gets is not done before its gets are. (Over mapped memory they end at once: udp shows it.)
static void regions(void) {
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

static void add_words(const void* left, void* right, size_t count, const void* factor) {
  for (size_t i = 0; i < count; ++i) ((uint32_t*)right)[i] += ((const uint32_t*)left)[i] * *(const uint32_t*)factor;
}
// 2 x + y: not commutative, and right only in the order of the ranks.
static void double_words(const void* left, void* right, size_t count, const void* factor) {
  (void)factor;
  for (size_t i = 0; i < count; ++i) ((uint32_t*)right)[i] ^= ((const uint32_t*)left)[i] << 1 ^ ((const uint32_t*)left)[i];
}

// Elements that do not fit into the memory that a team has for collective operations. 2 x + y, byte by byte.
enum { kLongElement = 20000 };
static void double_bytes(const void* left, void* right, size_t count, const void* factor) {
  for (size_t i = 0; i < count * kLongElement; ++i) ((uint8_t*)right)[i] += *(const uint8_t*)factor * ((const uint8_t*)left)[i];
}
static void long_elements(gex_TM_t team) {
  static uint8_t in[2 * kLongElement], out[2 * kLongElement], two = 2;
  const gex_Rank_t members = gex_TM_QuerySize(team), here = gex_TM_QueryRank(team);
  uint8_t expected = (uint8_t)members;
  for (gex_Rank_t r = members - 1; r-- > 0;) expected += 2 * (uint8_t)(r + 1);
  memset(in, (int)here + 1, sizeof in);
  for (gex_Rank_t root = 0; root <= members; ++root) {  // the last round is for all
    memset(out, 0, sizeof out);
    gex_Event_Wait(root < members
        ? gex_Coll_ReduceToOneNB(team, root, out, in, GEX_DT_USER, kLongElement, 2, GEX_OP_USER_NC, double_bytes, &two, 0)
        : gex_Coll_ReduceToAllNB(team, out, in, GEX_DT_USER, kLongElement, 2, GEX_OP_USER_NC, double_bytes, &two, 0));
    const uint8_t result = root == here || root == members ? expected : 0;
    HOLDS(out[0] == result && out[kLongElement] == result && out[2 * kLongElement - 1] == result);
  }
}

// Reductions by functions of this client on several teams with the same members, in flight together, on many teams in turn.
static void reductions(void) {
  static uint32_t once = 1;
  for (int round = 0; round < 20; ++round) {
    gex_TM_t both[2];
    for (int i = 0; i < 2; ++i) gex_TM_Split(&both[i], world, i == 0 ? 0 : (int)(me % 2), (int)me, NULL, 0, GEX_FLAG_TM_NO_SCRATCH);
    enum { kFlights = 20 };  // more than the layer has operators for at once
    uint32_t in[kFlights], sums[2][kFlights];
    gex_Event_t events[2 * kFlights];
    for (int i = 0; i < kFlights; ++i) {
      in[i] = (uint32_t)i + me;
      for (int t = 0; t < 2; ++t) {
        events[2 * i + t] = gex_Coll_ReduceToAllNB(both[t], &sums[t][i], &in[i], GEX_DT_USER, 4, 1, GEX_OP_USER, add_words, &once, 0);
      }
    }
    gex_Event_WaitAll(events, 2 * kFlights, 0);
    for (int t = 0; t < 2; ++t) {
      uint32_t others = 0;
      for (gex_Rank_t r = 0; r < gex_TM_QuerySize(both[t]); ++r) others += gex_TM_TranslateRankToJobrank(both[t], r);
      for (uint32_t i = 0; i < kFlights; ++i) HOLDS(sums[t][i] == i * gex_TM_QuerySize(both[t]) + others);
    }
    const uint32_t mine = 1u << me;
    uint32_t result = 0;
    gex_Event_Wait(gex_Coll_ReduceToAllNB(both[0], &result, &mine, GEX_DT_USER, 4, 1, GEX_OP_USER_NC, double_words, NULL, 0));
    uint32_t expected = 1;
    for (gex_Rank_t r = 1; r < ranks; ++r) expected = 1u << r ^ expected << 1 ^ expected;
    HOLDS(result == expected);
    if (round % 10 == 0) long_elements(both[0]);
    for (int i = 0; i < 2; ++i) HOLDS(gex_TM_Destroy(both[1 - i], NULL, 0) == 0);
  }
}

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

static void endpoints(void) {
  gex_EP_t more;
  gex_Segment_t memory;
  static char own[8192];
  OK(gex_EP_Create(&more, client, GEX_EP_CAPABILITY_RMA, 0));
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

// Threads that end with puts in flight, whose destructors wait for them: with implicit completion, in an access region that
// the destructor ends, and in one that nobody ends.
enum Ending { kImplicit = 1, kRegion, kLeftOpen };
struct End {
  enum Ending how;
  gex_Rank_t* source;
};
static pthread_key_t at_end;
static void wait_at_end(void* given) {
  struct End* const end = given;
  if (end->how == kRegion) gex_Event_Wait(gex_NBI_EndAccessRegion(0));
  if (end->how == kImplicit) gex_NBI_Wait(GEX_EC_ALL, 0);
  if (end->how != kLeftOpen) {
    gex_Rank_t got = GEX_RANK_INVALID;
    OK(gex_RMA_GetBlocking(world, &got, next, theirs, sizeof got, 0));
    HOLDS(got == me);
    free(end->source);
  }
}
static void* begin_and_end(void* given) {
  struct End* const end = given;
  pthread_setspecific(at_end, end);
  end->source = malloc(sizeof me);
  *end->source = me;
  if (end->how != kImplicit) gex_NBI_BeginAccessRegion(0);
  OK(gex_RMA_PutNBI(world, next, theirs, end->source, sizeof me, GEX_EVENT_DEFER, 0));
  return NULL;
}
static void threads(void) {
#if GASNET_PAR
  pthread_t one;
  gex_NBI_Wait(GEX_EC_ALL, 0);  // the layer's key comes first
  HOLDS(pthread_key_create(&at_end, wait_at_end) == 0);
  for (int i = 0; i < 9; ++i) {
    struct End end = {(enum Ending)(i % 3 + 1), NULL};
    HOLDS(pthread_create(&one, NULL, begin_and_end, &end) == 0);
    pthread_join(one, NULL);
    if (end.how == kLeftOpen) {  // its puts are waited for by the next region
      gex_NBI_BeginAccessRegion(0);
      gex_Event_Wait(gex_NBI_EndAccessRegion(0));
      free(end.source);
    }
  }
  gex_HSL_t lock = GEX_HSL_INITIALIZER, other = GEX_HSL_INITIALIZER;
  for (int i = 0; i < 3; ++i) {
    gex_HSL_Lock(&lock);
    gex_HSL_Lock(&other);
    gex_HSL_Unlock(&lock);
    gex_HSL_Lock(&lock);
    gex_HSL_Unlock(&other);
    gex_HSL_Unlock(&lock);
  }
#else
  (void)begin_and_end;
  (void)wait_at_end;
  (void)at_end;
#endif
}

static void* exit_with(void* status) {
  gasnet_exit(atoi(status));
  return NULL;
}

int main(int argc, char** argv) {
  const size_t least = gex_AM_LUBRequestMedium();  // before the start
  HOLDS(least >= 512 && gex_AM_LUBReplyMedium() >= 512 && gex_AM_LUBRequestLong() >= 512 && gex_AM_LUBReplyLong() >= 512);
  OK(gex_Client_Init(&client, &endpoint, &world, "CLIENT", &argc, &argv, 0));
  me = gex_TM_QueryRank(world);
  ranks = gex_TM_QuerySize(world);
  HOLDS(gex_AM_LUBRequestMedium() >= least);
  next = (me + 1) % ranks;
  gex_AM_Entry_t table[] = {
      {kPing, (gex_AM_Fn_t)ping, GEX_FLAG_AM_REQUEST | GEX_FLAG_AM_MEDLONG, 2, NULL, "ping"},
      {kPong, (gex_AM_Fn_t)pong, GEX_FLAG_AM_REPLY | GEX_FLAG_AM_MEDLONG, 1, NULL, "pong"},
      {kShort, (gex_AM_Fn_t)sum_of_16, GEX_FLAG_AM_REQUEST | GEX_FLAG_AM_SHORT, 16, NULL, "sum"},
      {kNotice, (gex_AM_Fn_t)notice, GEX_FLAG_AM_REPLY | GEX_FLAG_AM_MEDIUM, 0, NULL, "notice"},
      {0, (gex_AM_Fn_t)notice, GEX_FLAG_AM_REQUEST | GEX_FLAG_AM_MEDIUM, 0, NULL, "any"},
  };
  OK(gex_EP_RegisterHandlers(endpoint, table, sizeof table / sizeof table[0]));
  HOLDS(table[4].gex_index == 255);
  HOLDS(gasnet_getMaxLocalSegmentSize() >= kSegment);
  gex_System_SetVerboseErrors(0);
  HOLDS(gex_Segment_Attach(&segment, world, gasnet_getMaxLocalSegmentSize() + GASNET_PAGESIZE) == GASNET_ERR_BAD_ARG);
  gex_System_SetVerboseErrors(1);
  OK(gex_Segment_Attach(&segment, world, kSegment));
  HOLDS((uintptr_t)gex_Segment_QueryAddr(segment) % GASNET_PAGESIZE == 0);
  theirs = segment_of(world, next);
  messages();
  waits();
  transfers();
  pieces();
  atomics();
  regions();
  teams();
  reductions();
  endpoints();
  threads();
  barrier();
  if (argc > 1 && strcmp(argv[1], "segv") == 0) raise(SIGSEGV);
  if (argc > 1 && strcmp(argv[1], "lock") == 0) {
    gex_HSL_t lock = GEX_HSL_INITIALIZER;
    gex_HSL_Lock(&lock);
    gex_HSL_Lock(&lock);
  }
  if (argc > 1) {
    pthread_t other;
    if (me == ranks - 1 && argc > 2) pthread_create(&other, NULL, exit_with, argv[2]);
    if (me == ranks - 1) exit_with(argv[1]);
    for (;;) gasnet_AMPoll();
  }
  if (me == 0) puts("all right");
  return 0;  // as gasnet_exit(0)
}
