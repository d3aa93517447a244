#include "tests/compat/client/client.h"

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
void reductions(void) {
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
