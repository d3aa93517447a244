#include "tests/compat/corners/corners.h"

// Strided transfers of one to forty elements, with dimensions that are contiguous on both sides, on one, and on none.
static void shapes(gex_TM_t team, gex_Rank_t to, char* there) {
  static const size_t counts[][3] = {{1, 1, 1}, {4, 3, 1}, {12, 1, 1}, {13, 1, 1}, {2, 3, 2}, {1, 5, 1}, {2, 1, 4}, {4, 5, 2}};
  static const ptrdiff_t strides[][3] = {{3, 12, 60}, {3, 13, 70}, {5, 40, 200}, {-3, -15, 80}};
  enum { kBytes = 2048, kMiddle = 1024 };
  char from[kBytes], is[kBytes], expected[kBytes];
  for (int i = 0; i < kBytes; ++i) from[i] = (char)(i * 7 + (int)me);
  for (size_t shape = 0; shape < sizeof counts / sizeof counts[0]; ++shape) {
    for (int pair = 0; pair < 16; ++pair) {
      const size_t* const n = counts[shape];
      const ptrdiff_t *const a = strides[pair / 4], *const b = strides[pair % 4];
      memset(expected, 1, kBytes);
      OK(gex_RMA_PutBlocking(team, to, there, expected, kBytes, 0));
      for (size_t k = 0; k < n[2]; ++k)
        for (size_t j = 0; j < n[1]; ++j)
          for (size_t i = 0; i < n[0]; ++i)
            memcpy(expected + kMiddle + (ptrdiff_t)i * a[0] + (ptrdiff_t)j * a[1] + (ptrdiff_t)k * a[2],
                   from + kMiddle + (ptrdiff_t)i * b[0] + (ptrdiff_t)j * b[1] + (ptrdiff_t)k * b[2], 3);
      OK(gex_VIS_StridedPutBlocking(team, to, there + kMiddle, a, from + kMiddle, b, 3, n, 3, 0));
      OK(gex_RMA_GetBlocking(team, is, to, there, kBytes, 0));
      HOLDS(memcmp(is, expected, kBytes) == 0);
      memset(expected, 2, kBytes);
      memset(is, 2, kBytes);
      OK(gex_RMA_PutBlocking(team, to, there, from, kBytes, 0));
      for (size_t k = 0; k < n[2]; ++k)
        for (size_t j = 0; j < n[1]; ++j)
          for (size_t i = 0; i < n[0]; ++i)
            memcpy(expected + kMiddle + (ptrdiff_t)i * a[0] + (ptrdiff_t)j * a[1] + (ptrdiff_t)k * a[2],
                   from + kMiddle + (ptrdiff_t)i * b[0] + (ptrdiff_t)j * b[1] + (ptrdiff_t)k * b[2], 3);
      gex_Event_Wait(gex_VIS_StridedGetNB(team, is + kMiddle, a, to, there + kMiddle, b, 3, n, 3, 0));
      HOLDS(memcmp(is, expected, kBytes) == 0);
    }
  }
}
// A transpose, a reversal, a repeated source, one element, more levels than anybody needs.
void pieces(gex_TM_t team) {
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
  shapes(team, to, there);
  barrier(team);
}
