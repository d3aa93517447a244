// Strided transfers of 18 dimensions, more than a shape of the C++ interface holds: none may be dropped.
#include "tests/c/check.h"

#include <string.h>

enum { kBits = 17, kDimensions = kBits + 1, kBytes = 1 << kBits };

/// Two elements in each of 17 dimensions, and one in another. Byte i lies where the bits of i are in the reverse order: no
/// two dimensions merge.
static aq_shape reversed(aq_dimension dims[kDimensions]) {
  for (int bit = 0; bit < kBits; ++bit) {
    const int at = bit < 9 ? bit : bit + 1;
    dims[at].count = 2;
    dims[at].stride = INT64_C(1) << bit;
  }
  dims[9].count = 1;
  dims[9].stride = 12345;
  const aq_shape shape = {AQ_STRIDED, 0, 1, dims, kDimensions};
  return shape;
}

static uint32_t reverse_of(uint32_t i) {
  uint32_t out = 0;
  for (int bit = 0; bit < kBits; ++bit) out |= (i >> bit & 1) << (kBits - 1 - bit);
  return out;
}

static void is_reversed(const unsigned char* mine, const unsigned char* expected) {
  for (uint32_t i = 0; i < kBytes; ++i) {
    if (mine[reverse_of(i)] == expected[i]) continue;
    fprintf(stderr, "byte %u is %d, not %d\n", i, mine[reverse_of(i)], expected[i]);
    exit(1);
  }
}

static void run(aq_endpoint* ep, void* context) {
  (void)context;
  size_t bytes = 0;
  const unsigned char* const mine = aq_my_segment(ep, 0, &bytes);
  HOLDS(bytes >= kBytes);
  unsigned char* const sent = new_pattern(aq_rank(ep), kBytes);
  unsigned char* const expected = new_pattern(previous_of(ep), kBytes);
  unsigned char* const got = new_pattern(99, kBytes);
  const aq_shape whole = {AQ_CONTIGUOUS, 0, kBytes, NULL, 0};
  const aq_ptr there = aq_at(next_of(ep), 0, 0);
  aq_dimension dims[kDimensions];
  const aq_shape strided = reversed(dims);

  OK(aq_put_pieces(ep, there, &strided, sent, &whole));
  OK(aq_barrier(ep));
  is_reversed(mine, expected);
  // The list of the dimensions is not needed until completion.
  aq_event event = aq_get_pieces_nb(ep, got, &whole, there, &strided, NULL);
  memset(dims, 0, sizeof dims);
  DONE(ep, event);
  IS_PATTERN(got, aq_rank(ep), kBytes);
  OK(aq_barrier(ep));

  // The local side has them.
  (void)reversed(dims);
  memset(got, 0, kBytes);
  OK(aq_get_pieces(ep, got, &strided, aq_at(aq_rank(ep), 0, 0), &whole));
  for (uint32_t i = 0; i < kBytes; ++i) HOLDS(got[reverse_of(i)] == mine[i]);
  OK(aq_barrier(ep));
  OK(aq_put_pieces_nbi(ep, there, &whole, sent, &strided, NULL));
  OK(aq_wait_implicit(ep));
  OK(aq_barrier(ep));
  for (uint32_t i = 0; i < kBytes; ++i) HOLDS(mine[i] == expected[reverse_of(i)]);
  // Half of them: the sums differ.
  aq_shape half = strided;
  half.count = kDimensions - 1;
  FAILS(AQ_INVALID_ARGUMENT, aq_put_pieces(ep, there, &half, sent, &whole));
  OK(aq_barrier(ep));
  free(got);
  free(expected);
  free(sent);
}

int main(void) { return run_job(run); }
