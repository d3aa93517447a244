#include "tests/compat/corners/corners.h"

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
// Reductions in flight, all of member 0's begun before the others' first one: as many as may have data of their own, and more
// that share it.
enum { kOwn = 64, kShared = 200, kFlagAt = 900000 };
static void sum_below(const void* left, void* right, size_t count, const void* limit) {
  for (size_t i = 0; i < count; ++i)
    ((int*)right)[i] = (((const int*)left)[i] + ((int*)right)[i]) % *(const int*)limit;
}
static void reductions_in_flight(gex_TM_t team, int count, int limits_count) {
  const gex_Rank_t members = gex_TM_QuerySize(team), here = gex_TM_QueryRank(team);
  gex_Event_t events[kShared];
  int in[kShared], out[kShared], limits[kOwn];
  volatile int* const flag = (volatile int*)(mine + kFlagAt);
  for (int i = 0; i < limits_count; ++i) limits[i] = 3 + i;
  if (here != 0) GASNET_BLOCKUNTIL(*flag == count);
  *flag = 0;
  for (int i = 0; i < count; ++i) {
    int* const limit = &limits[i % limits_count];
    in[i] = (int)(here + 1) % *limit;
    events[i] = gex_Coll_ReduceToAllNB(team, &out[i], &in[i], GEX_DT_USER, sizeof(int), 1, GEX_OP_USER, sum_below, limit, 0);
  }
  for (gex_Rank_t r = 1; here == 0 && r < members; ++r)
    gex_RMA_PutBlockingVal(team, r, segment_of(team, r) + kFlagAt, (gex_RMA_Value_t)count, sizeof count, 0);
  gex_Event_WaitAll(events, (size_t)count, 0);
  for (int i = 0; i < count; ++i) HOLDS(out[i] == (int)(members * (members + 1) / 2) % limits[i % limits_count]);
  barrier(team);
}
void collectives(gex_TM_t team) {
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
  reductions_in_flight(team, kOwn, kOwn);
  reductions_in_flight(team, kShared, 1);
}
