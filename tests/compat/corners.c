// A client of GASNet-EX in C: the less used forms of each part, on teams of odd shapes, beside a model of the answers.

#include <gasnet_coll.h>
#include <gasnet_mk.h>
#include <gasnet_ratomic.h>
#include <gasnet_vis.h>
#include <gasnetex.h>

#include "tests/compat/check.h"

#include <stdlib.h>
#include <string.h>

static gex_Client_t client;
static gex_EP_t endpoint;
static gex_TM_t world;
static gex_Rank_t me, ranks;
static char* mine;

enum { kSegment = 1 << 20, kAsk = 200, kAnswer = 201, kAskLong = 202 };

static void barrier(gex_TM_t tm) { gex_Event_Wait(gex_Coll_BarrierNB(tm, 0)); }
static char* segment_of(gex_TM_t tm, gex_Rank_t rank) {
  void* address = NULL;
  uintptr_t size = 0;
  gex_Event_Wait(gex_EP_QueryBoundSegmentNB(tm, rank, &address, NULL, &size, 0));
  HOLDS(size != 0);
  return address;
}

// ------------------------------------------------------------------------------------------- atomics

// Every operation of every type, on the owner that a team's rank or a rank of the job names.
#define MODEL_INTEGERS(T, op, old, a)                                                                             \
  ((op) == GEX_OP_AND || (op) == GEX_OP_FAND ? (T)(old & a) : (op) == GEX_OP_OR || (op) == GEX_OP_FOR ? (T)(old | a) \
                                                                                          : (T)(old ^ a))
#define MODEL(T, U, op, old, a, b)                                          \
  ((op) == GEX_OP_ADD || (op) == GEX_OP_FADD     ? (T)((U)(old) + (U)(a))   \
   : (op) == GEX_OP_SUB || (op) == GEX_OP_FSUB   ? (T)((U)(old) - (U)(a))   \
   : (op) == GEX_OP_MULT || (op) == GEX_OP_FMULT ? (T)((U)(old) * (U)(a))   \
   : (op) == GEX_OP_MIN || (op) == GEX_OP_FMIN   ? ((old) < (a) ? (old) : (a)) \
   : (op) == GEX_OP_MAX || (op) == GEX_OP_FMAX   ? ((old) > (a) ? (old) : (a)) \
   : (op) == GEX_OP_INC || (op) == GEX_OP_FINC   ? (T)((U)(old) + 1)        \
   : (op) == GEX_OP_DEC || (op) == GEX_OP_FDEC   ? (T)((U)(old)-1)          \
   : (op) == GEX_OP_SET || (op) == GEX_OP_SWAP   ? (a)                      \
   : (op) == GEX_OP_CAS || (op) == GEX_OP_FCAS   ? ((old) == (a) ? (b) : (old)) \
                                                 : (old))
#define ATOMICS(NAME, T, U, INTEGERS, MODEL_OF)                                                               \
  static void atomics_##NAME(gex_TM_t team, gex_Flags_t favour) {                                             \
    static const gex_OP_t ops[] = {GEX_OP_ADD, GEX_OP_SUB, GEX_OP_MULT, GEX_OP_MIN, GEX_OP_MAX, GEX_OP_INC,   \
                                   GEX_OP_DEC, GEX_OP_SET, GEX_OP_CAS, GEX_OP_FADD, GEX_OP_FSUB, GEX_OP_FMULT, \
                                   GEX_OP_FMIN, GEX_OP_FMAX, GEX_OP_FINC, GEX_OP_FDEC, GEX_OP_SWAP,           \
                                   GEX_OP_FCAS, GEX_OP_GET, GEX_OP_AND, GEX_OP_OR, GEX_OP_XOR, GEX_OP_FAND,   \
                                   GEX_OP_FOR, GEX_OP_FXOR};                                                  \
    const size_t count = INTEGERS ? 25 : 19;                                                                  \
    gex_OP_t all = 0;                                                                                         \
    for (size_t i = 0; i < count; ++i) all |= ops[i];                                                         \
    gex_AD_t domain;                                                                                          \
    gex_AD_Create(&domain, team, GEX_DT_##NAME, all, favour);                                                 \
    HOLDS(gex_AD_QueryTM(domain) == team && gex_AD_QueryDT(domain) == GEX_DT_##NAME);                         \
    HOLDS(gex_AD_QueryOps(domain) == all && gex_AD_QueryFlags(domain) == favour && gex_AD_QueryCData(domain) == NULL); \
    gex_AD_SetCData(domain, &all);                                                                            \
    HOLDS(gex_AD_QueryCData(domain) == &all);                                                                 \
    const gex_Rank_t members = gex_TM_QuerySize(team), here = gex_TM_QueryRank(team);                         \
    const T values[] = {(T)0, (T)1, (T)3, (T)-5, (T)100};                                                     \
    for (gex_Rank_t step = 0; step < (members < 3 ? members : 3); ++step) {                                   \
      const gex_Rank_t to = (here + step) % members, job = gex_TM_TranslateRankToJobrank(team, to);           \
      T* const at = (T*)(segment_of(team, to) + 4096 + 64 * me); /* nobody else's */                          \
      T model = (T)7, start = (T)7, got = (T)0;                                                               \
      gex_Event_Wait(gex_AD_OpNB_##NAME(domain, NULL, to, at, GEX_OP_SET, start, (T)0, 0));                   \
      for (size_t i = 0; i < 2 * count; ++i) {                                                                \
        const gex_OP_t op = ops[i % count];                                                                   \
        const int by_job = i % 3 == 1;                                                                        \
        const gex_Flags_t flags = (by_job ? GEX_FLAG_RANK_IS_JOBRANK : 0) | (i % 4 == 2 ? GEX_FLAG_AD_ACQ | GEX_FLAG_AD_REL : 0) | \
                                  (to == here && i % 5 == 0 ? GEX_FLAG_AD_MY_RANK : 0);                       \
        const T a = (op == GEX_OP_CAS || op == GEX_OP_FCAS) && i % 2 == 0 ? model : values[i % 5], b = values[(i + 2) % 5]; \
        const int fetches = op >= GEX_OP_FAND;                                                                \
        got = (T)55;                                                                                          \
        if (i % 2 == 0) {                                                                                     \
          gex_Event_Wait(gex_AD_OpNB_##NAME(domain, fetches ? &got : NULL, by_job ? job : to, at, op, a, b, flags)); \
        } else {                                                                                              \
          OK(gex_AD_OpNBI_##NAME(domain, fetches ? &got : NULL, by_job ? job : to, at, op, a, b, flags));     \
          gex_NBI_Wait(op == GEX_OP_SET ? GEX_EC_PUT : op == GEX_OP_GET ? GEX_EC_GET : GEX_EC_RMW, 0);        \
        }                                                                                                     \
        if (!(got == (fetches ? model : (T)55))) fprintf(stderr, "type %s, op %#x, step %zu\n", #NAME, (unsigned)op, i); \
        HOLDS(got == (fetches ? model : (T)55));                                                              \
        model = MODEL_OF(T, U, op, model, a, b);                                                              \
      }                                                                                                       \
      gex_Event_Wait(gex_AD_OpNB_##NAME(domain, &got, to, at, GEX_OP_GET, (T)0, (T)0, 0));                    \
      HOLDS(got == model);                                                                                    \
    }                                                                                                         \
    barrier(team);                                                                                            \
    gex_AD_Destroy(domain);                                                                                   \
  }
#define MODEL_ALL(T, U, op, old, a, b)                                                                    \
  ((op) & (GEX_OP_AND | GEX_OP_OR | GEX_OP_XOR | GEX_OP_FAND | GEX_OP_FOR | GEX_OP_FXOR) ? MODEL_INTEGERS(T, op, old, a) \
                                                                                         : MODEL(T, U, op, old, a, b))
ATOMICS(I32, int32_t, uint32_t, 1, MODEL_ALL)
ATOMICS(U32, uint32_t, uint32_t, 1, MODEL_ALL)
ATOMICS(I64, int64_t, uint64_t, 1, MODEL_ALL)
ATOMICS(U64, uint64_t, uint64_t, 1, MODEL_ALL)
ATOMICS(FLT, float, float, 0, MODEL)
ATOMICS(DBL, double, double, 0, MODEL)

static void atomics(gex_TM_t team) {
  static const gex_Flags_t favours[] = {0, GEX_FLAG_AD_FAVOR_MY_RANK, GEX_FLAG_AD_FAVOR_MY_NBRHD, GEX_FLAG_AD_FAVOR_REMOTE};
  for (int i = 0; i < 4; ++i) {
    atomics_I32(team, favours[i]);
    atomics_U32(team, favours[i]);
    atomics_I64(team, favours[i]);
    atomics_U64(team, favours[i]);
    atomics_FLT(team, favours[i]);
    atomics_DBL(team, favours[i]);
  }
}

// ------------------------------------------------------------------------------------------- collectives

#define REDUCTIONS(NAME, T, INTEGERS)                                                                              \
  static void reduce_##NAME(gex_TM_t team) {                                                                       \
    static const gex_OP_t ops[] = {GEX_OP_ADD, GEX_OP_MULT, GEX_OP_MIN, GEX_OP_MAX, GEX_OP_AND, GEX_OP_OR, GEX_OP_XOR}; \
    const gex_Rank_t members = gex_TM_QuerySize(team), here = gex_TM_QueryRank(team);                              \
    for (size_t i = 0; i < (INTEGERS ? 7 : 4); ++i) {                                                              \
      T in[5], out[5], expected[5];                                                                                \
      for (int k = 0; k < 5; ++k) {                                                                                \
        in[k] = (T)(1 + (here + (gex_Rank_t)k) % 3);                                                               \
        expected[k] = (T)(1 + (gex_Rank_t)k % 3);                                                                  \
        for (gex_Rank_t r = 1; r < members; ++r) {                                                                 \
          const T other = (T)(1 + (r + (gex_Rank_t)k) % 3);                                                        \
          T result = expected[k];                                                                                  \
          if (ops[i] == GEX_OP_ADD) result = (T)(result + other);                                                  \
          if (ops[i] == GEX_OP_MULT) result = (T)(result * other);                                                 \
          if (ops[i] == GEX_OP_MIN) result = other < result ? other : result;                                      \
          if (ops[i] == GEX_OP_MAX) result = other > result ? other : result;                                      \
          if (ops[i] == GEX_OP_AND) result = (T)((uint64_t)result & (uint64_t)other);                              \
          if (ops[i] == GEX_OP_OR) result = (T)((uint64_t)result | (uint64_t)other);                               \
          if (ops[i] == GEX_OP_XOR) result = (T)((uint64_t)result ^ (uint64_t)other);                              \
          expected[k] = result;                                                                                    \
        }                                                                                                          \
      }                                                                                                            \
      memset(out, 0, sizeof out);                                                                                  \
      gex_Event_Wait(gex_Coll_ReduceToAllNB(team, out, in, GEX_DT_##NAME, sizeof(T), 5, ops[i], NULL, NULL, 0));   \
      HOLDS(memcmp(out, expected, sizeof out) == 0);                                                               \
      const gex_Rank_t root = (gex_Rank_t)i % members;                                                             \
      memset(out, 0, sizeof out);                                                                                  \
      gex_Event_Wait(gex_Coll_ReduceToOneNB(team, root, here == root ? out : NULL, in, GEX_DT_##NAME, sizeof(T), 5, ops[i], NULL, NULL, 0)); \
      HOLDS(here != root || memcmp(out, expected, sizeof out) == 0);                                               \
      gex_Event_Wait(gex_Coll_ReduceToAllNB(team, in, in, GEX_DT_##NAME, sizeof(T), 5, ops[i], NULL, NULL, 0));    \
      HOLDS(memcmp(in, expected, sizeof in) == 0);                                                                 \
      gex_Event_Wait(gex_Coll_ReduceToAllNB(team, out, in, GEX_DT_##NAME, sizeof(T), 0, ops[i], NULL, NULL, 0));   \
    }                                                                                                              \
  }
REDUCTIONS(I32, int32_t, 1)
REDUCTIONS(U32, uint32_t, 1)
REDUCTIONS(I64, int64_t, 1)
REDUCTIONS(U64, uint64_t, 1)
REDUCTIONS(FLT, float, 0)
REDUCTIONS(DBL, double, 0)

static void largest(const void* left, void* right, size_t count, const void* data) {
  (void)data;
  for (size_t i = 0; i < 3 * count; ++i) {
    const char other = ((const char*)left)[i];
    if (other > ((char*)right)[i]) ((char*)right)[i] = other;
  }
}
static void collectives(gex_TM_t team) {
  const gex_Rank_t members = gex_TM_QuerySize(team), here = gex_TM_QueryRank(team);
  reduce_I32(team);
  reduce_U32(team);
  reduce_I64(team);
  reduce_U64(team);
  reduce_FLT(team);
  reduce_DBL(team);
  // An element of three bytes, none of them, in place; the root alone in place.
  char in[6] = {(char)here, 1, 2, 3, (char)(members - here), 5}, out[6];
  gex_Event_Wait(gex_Coll_ReduceToAllNB(team, out, in, GEX_DT_USER, 3, 2, GEX_OP_USER, largest, NULL, 0));
  HOLDS(out[0] == (char)(members - 1) && out[1] == 1 && out[4] == (char)members);
  gex_Event_Wait(gex_Coll_ReduceToAllNB(team, out, in, GEX_DT_USER, 3, 0, GEX_OP_USER, largest, NULL, 0));
  gex_Event_Wait(gex_Coll_ReduceToOneNB(team, members - 1, here == members - 1 ? in : NULL, in, GEX_DT_USER, 3, 2, GEX_OP_USER, largest, NULL, 0));
  HOLDS(here != members - 1 || memcmp(in, out, 6) == 0);
  gex_Event_t events[16];
  int words[8];
  for (int i = 0; i < 8; ++i) {
    const gex_Rank_t root = (gex_Rank_t)i % members;
    words[i] = here == root ? i * 100 : -1;
    events[2 * i] = gex_Coll_BroadcastNB(team, root, &words[i], here == root ? &words[i] : NULL, sizeof(int), 0);
    events[2 * i + 1] = i % 2 == 0 ? gex_Coll_BarrierNB(team, 0) : gex_Coll_BroadcastNB(team, root, NULL, NULL, 0, 0);
  }
  size_t left = 16;
  while (left != 0) {
    gex_Event_WaitSome(events, 16, 0);
    left = 0;
    for (int i = 0; i < 16; ++i) left += events[i] != GEX_EVENT_INVALID;
  }
  for (int i = 0; i < 8; ++i) HOLDS(words[i] == i * 100);
}

// ------------------------------------------------------------------------------------------- puts, gets, pieces, events

static void transfers(gex_TM_t team) {
  const gex_Rank_t members = gex_TM_QuerySize(team), here = gex_TM_QueryRank(team), to = (here + 1) % members;
  char* const there = segment_of(team, to) + 200000;
  static char out[70000], back[70000];
  for (size_t i = 0; i < sizeof out; ++i) out[i] = (char)(i * 7 + me + 1);
  // Nothing, from nowhere.
  OK(gex_RMA_PutBlocking(team, to, there, NULL, 0, 0));
  OK(gex_RMA_GetBlocking(team, NULL, to, there, 0, 0));
  gex_Event_t leaf = GEX_EVENT_NO_OP;
  gex_Event_Wait(gex_RMA_PutNB(team, to, NULL, NULL, 0, &leaf, 0));
  HOLDS(leaf == GEX_EVENT_INVALID || gex_Event_Test(leaf) == 0);
  gex_Event_Wait(gex_RMA_GetNB(team, NULL, to, NULL, 0, 0));
  // Values of every size keep to their bytes.
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
  // Leaves before and after, alone, twice asked for, or not at all.
  for (int form = 0; form < 6; ++form) {
    memset(back, 0, sizeof back);
    leaf = GEX_EVENT_NO_OP;
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
  gex_Event_t none[3] = {GEX_EVENT_INVALID, GEX_EVENT_INVALID, GEX_EVENT_INVALID};
  HOLDS(gex_Event_TestSome(none, 3, 0) == GASNET_OK && gex_Event_TestAll(none, 3, 0) == GASNET_OK);
  gex_Event_WaitSome(none, 3, 0);
  HOLDS(gex_Event_TestSome(NULL, 0, 0) == GASNET_OK && gex_Event_Test(GEX_EVENT_INVALID) == 0);
  HOLDS(gex_Event_QueryLeaf(GEX_EVENT_INVALID, GEX_EC_LC) == GEX_EVENT_INVALID);
  // What is refused has not happened, and may be tried again.
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
  // One region with all kinds, one with nothing.
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

// A transpose, a reversal, a repeated source, one element, more levels than anybody needs.
static void pieces(gex_TM_t team) {
  const gex_Rank_t members = gex_TM_QuerySize(team), here = gex_TM_QueryRank(team), to = (here + 1) % members;
  char* const there = segment_of(team, to) + 400000;
  int a[6][4], b[4][6], c[24];
  for (int i = 0; i < 24; ++i) a[i / 4][i % 4] = i + (int)me * 1000;
  const size_t counts[2] = {4, 6};
  const ptrdiff_t rows[2] = {4, 16}, columns[2] = {24, 4}, backwards[2] = {-4, -16};
  OK(gex_VIS_StridedPutBlocking(team, to, there, columns, a, rows, 4, counts, 2, 0));
  OK(gex_RMA_GetBlocking(team, b, to, there, sizeof b, 0));
  for (int i = 0; i < 24; ++i) HOLDS(b[i % 4][i / 4] == a[i / 4][i % 4]);
  OK(gex_VIS_StridedPutNBI(team, to, there, rows, &a[5][3], backwards, 4, counts, 2, 0));
  gex_NBI_Wait(GEX_EC_PUT, 0);
  gex_Event_Wait(gex_VIS_StridedGetNB(team, c, NULL, to, there, NULL, sizeof c, NULL, 0, 0));
  for (int i = 0; i < 24; ++i) HOLDS(c[i] == a[5 - i / 4][3 - i % 4]);
  const ptrdiff_t same[1] = {0}, apart[1] = {8};
  const size_t five[1] = {5};
  const gex_Event_t root = gex_VIS_StridedPutNB(team, to, there, apart, &a[1][1], same, 4, five, 1, GEX_FLAG_ENABLE_LEAF_LC);
  gex_Event_Wait(gex_Event_QueryLeaf(root, GEX_EC_LC));
  gex_Event_Wait(root);
  OK(gex_VIS_StridedGetBlocking(team, c, rows, to, there, apart, 4, five, 1, 0));
  for (int i = 0; i < 5; ++i) HOLDS(c[i] == a[1][1]);
  size_t twos[20];
  ptrdiff_t far[20], near[20];
  for (int i = 0; i < 20; ++i) {
    twos[i] = i % 4 == 0 ? 2 : 1;  // 32 elements
    near[i] = (ptrdiff_t)1 << (i / 4);
    far[i] = (ptrdiff_t)1 << (5 - i / 4);
  }
  char bytes[32], got[64];
  for (int i = 0; i < 32; ++i) bytes[i] = (char)(i + me);
  OK(gex_VIS_StridedPutBlocking(team, to, there, far, bytes, near, 1, twos, 20, 0));
  OK(gex_RMA_GetBlocking(team, got, to, there, 64, 0));
  for (int i = 0; i < 32; ++i) {
    int place = 0;
    for (int bit = 0; bit < 5; ++bit) place += (i >> bit & 1) << (5 - bit);
    HOLDS(got[place] == bytes[i]);
  }
  // Lists of none and of empty pieces; another division on each side.
  OK(gex_VIS_VectorPutBlocking(team, to, 0, NULL, 0, NULL, 0));
  OK(gex_VIS_IndexedGetBlocking(team, 0, NULL, 8, to, 0, NULL, 4, 0));
  gex_Memvec_t empty[2] = {{NULL, 0}, {NULL, 0}}, three[3] = {{there, 5}, {NULL, 0}, {there + 100, 7}}, two[2] = {{bytes, 1}, {bytes + 10, 11}};
  OK(gex_VIS_VectorPutBlocking(team, to, 2, empty, 1, empty, 0));
  gex_Event_Wait(gex_VIS_VectorPutNB(team, to, 3, three, 2, two, 0));
  two[0].gex_addr = got, two[1].gex_addr = got + 1;
  gex_Event_Wait(gex_VIS_VectorGetNB(team, 2, two, to, 3, three, 0));
  HOLDS(got[0] == bytes[0] && memcmp(got + 1, bytes + 10, 11) == 0);
  void* places[3] = {there + 600, there + 300, there};
  void* sources[6];
  for (int i = 0; i < 6; ++i) sources[i] = &a[i][0];
  OK(gex_VIS_IndexedPutNBI(team, to, 3, places, 8, 6, sources, 4, GEX_FLAG_ENABLE_LEAF_LC));
  gex_NBI_Wait(GEX_EC_LC, 0);
  gex_NBI_Wait(GEX_EC_PUT, 0);
  void* whole[1] = {c};
  OK(gex_VIS_IndexedGetBlocking(team, 1, whole, 24, to, 3, places, 8, 0));
  for (int i = 0; i < 6; ++i) HOLDS(c[i] == a[i][0]);
  barrier(team);
}

// ------------------------------------------------------------------------------------------- messages

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
static void messages(gex_TM_t team) {
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

// ------------------------------------------------------------------------------------------- teams

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
static void on(gex_TM_t team) {
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
static void teams(void) {
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

// ------------------------------------------------------------------------------------------- the rest

static void segments(void) {
  gex_EP_t further[3];
  gex_Segment_t made_here[3];
  static char own[5000];
  for (int i = 0; i < 3; ++i) {
    OK(gex_EP_Create(&further[i], client, GEX_EP_CAPABILITY_RMA, 0));
    HOLDS(gex_EP_QuerySegment(further[i]) == GEX_SEGMENT_INVALID && gex_EP_QueryClient(further[i]) == client);
    // Of the library's and of the client's, each of no round size.
    OK(gex_Segment_Create(&made_here[i], client, i == 1 ? own : NULL, 4999, GEX_MK_HOST, 0));
    HOLDS(gex_Segment_QuerySize(made_here[i]) == 4999 && gex_Segment_QueryAddr(made_here[i]) != NULL);
    HOLDS(gex_Segment_QueryClient(made_here[i]) == client && gex_Segment_QueryFlags(made_here[i]) == 0);
    if (i < 2) OK(gex_EP_BindSegment(further[i], made_here[i], 0));
  }
  const gex_EP_Index_t first = gex_EP_QueryIndex(further[0]);
  const gex_TM_t pair = gex_TM_Pair(endpoint, first), from = gex_TM_Pair(further[1], first);
  HOLDS(pair == gex_TM_Pair(endpoint, first) && pair != from && pair != GEX_TM_INVALID);
  void *owner = NULL, *local = NULL;
  uintptr_t size = 1;
  const gex_Rank_t to = (me + 1) % ranks;
  HOLDS(gex_EP_QueryBoundSegmentNB(pair, me, &owner, &local, &size, GEX_FLAG_IMMEDIATE) == GEX_EVENT_INVALID);
  HOLDS(size == 4999 && owner == gex_Segment_QueryAddr(made_here[0]));
  if (ranks > 1) {
    gex_Event_Wait(gex_EP_QueryBoundSegmentNB(pair, to, NULL, NULL, &size, 0));
    HOLDS(size == 0);
  }
  gex_System_SetVerboseErrors(0);
  HOLDS(gex_EP_BindSegment(further[2], GEX_SEGMENT_INVALID, 0) == GASNET_ERR_BAD_ARG);
  gex_EP_t none;
  HOLDS(gex_EP_Create(&none, client, 0, 0) == GASNET_ERR_BAD_ARG);
  gex_System_SetVerboseErrors(1);
  gex_Segment_Destroy(made_here[2], 0);  // neither bound nor published
  // Each rank publishes another number of them; one has no segment.
  gex_EP_t published[3] = {further[0], further[1], further[2]};
  OK(gex_EP_PublishBoundSegment(world, published, me % 2 == 0 ? 3 : 2, 0));
  OK(gex_EP_PublishBoundSegment(world, NULL, 0, 0));
  for (int i = 0; i < 2; ++i) {
    const gex_TM_t there = gex_TM_Pair(i == 0 ? endpoint : further[0], gex_EP_QueryIndex(further[i]));
    char* const at = segment_of(there, to);
    const char byte = (char)(me + 60 + (gex_Rank_t)i);
    char back = 0;
    OK(gex_RMA_PutBlocking(there, to, at + 4998, &byte, 1, 0));
    gex_Event_Wait(gex_RMA_GetNB(there, &back, to, at + 4998, 1, 0));
    HOLDS(back == byte);
    const ptrdiff_t one[1] = {2};
    const size_t count[1] = {10};
    char row[20], again[20];
    memset(row, byte, sizeof row);
    OK(gex_VIS_StridedPutBlocking(there, to, at, one, row, one, 1, count, 1, 0));
    OK(gex_VIS_StridedGetBlocking(there, again, one, to, at, one, 1, count, 1, 0));
    HOLDS(again[18] == byte);
  }
  barrier(world);
}

static void system_queries(void) {
  gex_RankInfo_t *near_me = NULL, *here = NULL;
  gex_Rank_t near_count = 0, near_index = 0, host_count = 0, host_index = 0, sets[4] = {9, 9, 9, 9};
  gex_System_QueryNbrhdInfo(NULL, NULL, NULL);
  gex_System_QueryHostInfo(NULL, NULL, NULL);
  gex_System_QueryMyPosition(NULL, NULL, NULL, NULL);
  gex_System_QueryNbrhdInfo(&near_me, &near_count, &near_index);
  gex_System_QueryHostInfo(&here, &host_count, &host_index);
  gex_System_QueryMyPosition(&sets[0], &sets[1], &sets[2], &sets[3]);
  HOLDS(near_me[near_index].gex_jobrank == me && here[host_index].gex_jobrank == me && near_count <= host_count);
  HOLDS(sets[1] < sets[0] && sets[3] < sets[2] && sets[0] >= sets[2]);
  for (gex_Rank_t i = 1; i < host_count; ++i) HOLDS(here[i - 1].gex_jobrank < here[i].gex_jobrank);
  HOLDS(gex_System_QueryHiddenAMConcurrencyLevel() == GASNET_HIDDEN_AM_CONCURRENCY_LEVEL);
  HOLDS(strcmp(gex_Client_QueryName(client), "CORNERS_2") == 0 && gex_Client_QueryFlags(client) == 0);
  int data = 0;
  gex_Client_SetCData(client, &data);
  gex_EP_SetCData(endpoint, &ranks);
  HOLDS(gex_Client_QueryCData(client) == &data && gex_EP_QueryCData(endpoint) == &ranks);
  HOLDS(gex_EP_QueryIndex(endpoint) == 0 && gex_EP_QueryFlags(endpoint) == 0);
  HOLDS(strcmp(gasnet_ErrorName(GASNET_ERR_NOT_READY), "GASNET_ERR_NOT_READY") == 0);
  HOLDS(strlen(gasnet_ErrorDesc(GASNET_ERR_RESOURCE)) > 5 && gasnet_ErrorName(77) != NULL && gasnet_ErrorDesc(77) != NULL);
  gex_System_SetVerboseErrors(0);
  HOLDS(gasnet_set_waitmode(17) == GASNET_ERR_BAD_ARG && gex_System_GetVerboseErrors() == 0);
  gex_System_SetVerboseErrors(1);
  for (int mode = GASNET_WAIT_SPIN; mode <= GASNET_WAIT_SPINBLOCK; ++mode) {
    OK(gasnet_set_waitmode(mode));
    barrier(world);
  }
  HOLDS(gasnet_getenv("A_VARIABLE_THAT_NOBODY_HAS") == NULL && gasnet_getenv("PATH") != NULL);
  const gasnett_tick_t began = gasnett_ticks_now();
  gasnett_nsleep(2000000);
  const uint64_t nanoseconds = gasnett_ticks_to_ns(gasnett_ticks_now() - began);
  HOLDS(nanoseconds >= 1900000 && nanoseconds < UINT64_C(20000000000));
  HOLDS(gasnett_ticks_to_us(GASNETT_TICK_MAX) > 0 && gasnett_tick_granularityus() > 0 && gasnett_tick_overheadus() >= 0);
}

int main(int argc, char** argv) {
  OK(gex_Client_Init(&client, &endpoint, &world, "CORNERS_2", &argc, &argv, 0));
  me = gex_TM_QueryRank(world);
  ranks = gex_TM_QuerySize(world);
  gex_AM_Entry_t table[] = {
      {kAsk, (gex_AM_Fn_t)ask, GEX_FLAG_AM_REQUEST | GEX_FLAG_AM_MEDIUM, 0, NULL, NULL},
      {kAnswer, (gex_AM_Fn_t)answer, GEX_FLAG_AM_REPLY | GEX_FLAG_AM_MEDLONG, 1, NULL, "answer"},
      {kAskLong, (gex_AM_Fn_t)ask_long, GEX_FLAG_AM_REQUEST | GEX_FLAG_AM_MEDLONG, 1, NULL, "ask"},
  };
  OK(gex_EP_RegisterHandlers(endpoint, table, sizeof table / sizeof table[0]));
  gex_Segment_t segment;
  if (argc > 1 && strcmp(argv[1], "created") == 0) {  // in place of gex_Segment_Attach
    OK(gex_Segment_Create(&segment, client, NULL, kSegment, GEX_MK_HOST, 0));
    OK(gex_EP_BindSegment(endpoint, segment, 0));
    OK(gex_EP_PublishBoundSegment(world, &endpoint, 1, 0));
  } else {
    OK(gex_Segment_Attach(&segment, world, kSegment));
  }
  HOLDS(gex_EP_QuerySegment(endpoint) == segment);
  mine = gex_Segment_QueryAddr(segment);
  barrier(world);
  system_queries();
  on(world);
  segments();
  teams();
  if (me == 0) puts("all right");
  gasnet_exit(0);
}
