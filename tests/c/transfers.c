// Puts and gets of all forms and sizes, and their events, groups, regions and fences.
#include "tests/c/check.h"

#include <string.h>

static const size_t kSizes[] = {0, 1, 2, 3, 4, 5, 7, 8, 9, 16, 100, 2047, 2048, 5000, 70000};
static const size_t kCount = sizeof kSizes / sizeof kSizes[0];

static void check_sizes(aq_endpoint* ep) {
  size_t bytes = 0;
  const unsigned char* const mine = aq_my_segment(ep, 0, &bytes);
  HOLDS(bytes >= 140000 && bytes == aq_segment_bytes(ep, aq_rank(ep), 0));
  for (size_t i = 0; i < kCount; ++i) {
    const size_t size = kSizes[i];
    unsigned char* const sent = new_pattern(aq_rank(ep), size);
    unsigned char* const got = new_pattern(99, size);
    // 3: at an odd address too
    for (uint64_t offset = 0; offset <= 3; offset += 3) {
      const aq_ptr there = aq_at(next_of(ep), 0, offset);
      OK(aq_put(ep, there, sent, size));
      OK(aq_barrier(ep));
      IS_PATTERN(mine + offset, previous_of(ep), size);
      OK(aq_get(ep, got, there, size));
      IS_PATTERN(got, aq_rank(ep), size);
      OK(aq_barrier(ep));
    }
    const aq_ptr further = aq_at(next_of(ep), 0, 70016);
    aq_event event = aq_put_nb(ep, further, sent, size, NULL);
    DONE(ep, event);
    OK(aq_barrier(ep));
    IS_PATTERN(mine + 70016, previous_of(ep), size);
    memset(got, 0, size);
    event = aq_get_nb(ep, got, further, size, NULL);
    DONE(ep, event);
    HOLDS(aq_done(&event));
    DONE(ep, event);  // a finished event keeps its outcome
    IS_PATTERN(got, aq_rank(ep), size);
    memset(got, 0, size);
    OK(aq_get_nbi(ep, got, further, size, NULL));
    OK(aq_wait_implicit(ep));
    HOLDS(aq_test_implicit(ep));
    IS_PATTERN(got, aq_rank(ep), size);
    OK(aq_barrier(ep));
    free(got);
    free(sent);
  }
}

static void check_values(aq_endpoint* ep) {
  const uint32_t next = next_of(ep);
  OK(aq_put_u8(ep, aq_at(next, 0, 1), 0xa1));
  OK(aq_put_u16(ep, aq_at(next, 0, 2), 0xb1b2));
  OK(aq_put_u32(ep, aq_at(next, 0, 4), 0xc1c2c3c4));
  OK(aq_put_u64(ep, aq_at(next, 0, 8), UINT64_C(0xd1d2d3d4d5d6d7d8)));
  const uint64_t pair[2] = {17, 18};
  OK(aq_put_u128(ep, aq_at(next, 0, 16), pair));
  OK(aq_barrier(ep));
  uint8_t one = 0;
  uint16_t two = 0;
  uint32_t four = 0;
  uint64_t eight = 0, both[2] = {0, 0};
  OK(aq_get_u8(ep, aq_at(next, 0, 1), &one));
  OK(aq_get_u16(ep, aq_at(next, 0, 2), &two));
  OK(aq_get_u32(ep, aq_at(next, 0, 4), &four));
  OK(aq_get_u64(ep, aq_at(next, 0, 8), &eight));
  OK(aq_get_u128(ep, aq_at(next, 0, 16), both));
  HOLDS(one == 0xa1 && two == 0xb1b2 && four == 0xc1c2c3c4 && eight == UINT64_C(0xd1d2d3d4d5d6d7d8));
  HOLDS(both[0] == 17 && both[1] == 18);
  // from a segment to a segment: my own word, which the previous rank has written, to the next rank
  OK(aq_copy(ep, aq_at(next, 0, 64), aq_at(aq_rank(ep), 0, 8), 8));
  OK(aq_get_u64(ep, aq_at(next, 0, 64), &eight));
  HOLDS(eight == UINT64_C(0xd1d2d3d4d5d6d7d8));
  OK(aq_barrier(ep));
}

enum { kPieces = 16, kPieceBytes = 4000 };

static void check_events(aq_endpoint* ep) {
  unsigned char* const sent = new_pattern(aq_rank(ep), kPieces * kPieceBytes);
  unsigned char* const got = new_pattern(99, kPieces * kPieceBytes);
  aq_event events[kPieces], sources[kPieces];
  for (size_t i = 0; i < kPieces; ++i) {
    aq_options options = {i % 2 == 0 ? AQ_SOURCE_ON_EVENT : AQ_SOURCE_AT_RETURN, 0, &sources[i], NULL};
    events[i] =
        aq_put_nb(ep, aq_at(next_of(ep), 0, i * kPieceBytes), sent + i * kPieceBytes, kPieceBytes, &options);
  }
  for (size_t i = 0; i < kPieces; ++i) DONE(ep, sources[i]);
  OK(aq_wait_all(ep, events, kPieces));
  OK(aq_barrier(ep));

  size_t left = kPieces, index = 0;
  for (size_t i = 0; i < kPieces; ++i) {
    events[i] =
        aq_get_nb(ep, got + i * kPieceBytes, aq_at(next_of(ep), 0, i * kPieceBytes), kPieceBytes, NULL);
  }
  while (left != 0) {
    OK(aq_wait_any(ep, events, left, 30 * SECOND, &index));
    HOLDS(index < left && aq_done(&events[index]));
    DONE(ep, events[index]);
    events[index] = events[--left];
  }
  IS_PATTERN(got, aq_rank(ep), kPieces * kPieceBytes);

  aq_event event = aq_get_nb(ep, got, aq_at(next_of(ep), 0, 0), kPieceBytes, NULL);
  OK(aq_wait_for(ep, &event, 30 * SECOND));
  event = aq_get_nb(ep, got, aq_at(next_of(ep), 0, 0), kPieceBytes, NULL);
  while (!aq_test(ep, &event)) continue;
  DONE(ep, event);

  OK(aq_begin_region(ep));
  memset(got, 0, kPieces * kPieceBytes);
  OK(aq_get_nbi(ep, got, aq_at(next_of(ep), 0, 0), kPieces * kPieceBytes, NULL));
  event = aq_end_region(ep);
  DONE(ep, event);
  IS_PATTERN(got, aq_rank(ep), kPieces * kPieceBytes);
  OK(aq_barrier(ep));
  free(got);
  free(sent);
}

static void check_shared_events(aq_endpoint* ep) {
  unsigned char* const got = new_pattern(99, kPieceBytes);
  aq_event event = aq_get_nb(ep, got, aq_at(next_of(ep), 0, 0), kPieceBytes, NULL);
  aq_shared_event first = aq_share(&event);
  HOLDS(aq_done(&event));  // given up
  aq_shared_event second = aq_shared_copy(first);
  OK(aq_shared_wait(ep, &first, 30 * SECOND));
  HOLDS(aq_shared_done(&second) && aq_shared_test(ep, &second));
  aq_shared_drop(&first);
  OK(aq_shared_wait(ep, &second, AQ_FOREVER));
  aq_shared_drop(&second);
  // also of an operation that has failed
  event = aq_get_nb(ep, got, aq_at(aq_ranks(ep), 0, 0), 8, NULL);
  first = aq_share(&event);
  second = aq_shared_copy(first);
  FAILS(AQ_OUT_OF_RANGE, aq_shared_wait(ep, &first, AQ_FOREVER));
  FAILS(AQ_OUT_OF_RANGE, aq_shared_wait(ep, &second, AQ_FOREVER));
  aq_shared_drop(&first);
  aq_shared_drop(&second);
  free(got);
}

static void note(void* context, aq_status outcome) {
  OK(outcome);
  ++*(int*)context;
}
static bool is_noted(void* context) { return *(int*)context == 3; }

static void check_continuations(aq_endpoint* ep) {
  uint64_t got[3];
  int noted = 0;
  for (size_t i = 0; i < 3; ++i) {
    aq_event event = aq_get_nb(ep, &got[i], aq_at(next_of(ep), 0, 8 * i), 8, NULL);
    OK(aq_then(ep, &event, note, &noted));
    HOLDS(aq_done(&event));  // given up
  }
  OK(aq_wait_until(ep, is_noted, &noted, 30 * SECOND, AQ_NO_RANK));
}

static void check_groups(aq_endpoint* ep) {
  size_t bytes = 0;
  const unsigned char* const mine = aq_my_segment(ep, 0, &bytes);
  unsigned char* const sent = new_pattern(aq_rank(ep), kPieces * kPieceBytes);
  unsigned char* const got = new_pattern(99, kPieces * kPieceBytes);
  aq_group *puts = NULL, *gets = NULL;
  OK(aq_group_create(ep, &puts));
  OK(aq_group_create(ep, &gets));
  const aq_options to = {AQ_SOURCE_ON_EVENT, 0, NULL, puts}, from = {0, 0, NULL, gets};
  for (size_t i = 0; i < kPieces; ++i) {
    OK(aq_put_nbi(ep, aq_at(next_of(ep), 0, i * kPieceBytes), sent + i * kPieceBytes, kPieceBytes, &to));
  }
  OK(aq_group_wait_source(puts));
  HOLDS(aq_group_source_done(puts) && aq_group_test_source(puts) && aq_group_sources_in_flight(puts) == 0);
  memset(sent, 0, kPieces * kPieceBytes);
  OK(aq_group_wait(puts, AQ_FOREVER));
  HOLDS(aq_group_done(puts) && aq_group_in_flight(puts) == 0);
  OK(aq_barrier(ep));
  IS_PATTERN(mine, previous_of(ep), kPieces * kPieceBytes);
  for (size_t i = 0; i < kPieces; ++i) {
    OK(aq_get_nbi(ep, got + i * kPieceBytes, aq_at(next_of(ep), 0, i * kPieceBytes), kPieceBytes, &from));
  }
  while (!aq_group_test(gets)) continue;
  OK(aq_group_wait(gets, 30 * SECOND));
  IS_PATTERN(got, aq_rank(ep), kPieces * kPieceBytes);
  OK(aq_barrier(ep));
  aq_group_destroy(puts);
  aq_group_destroy(gets);
  aq_group_destroy(NULL);
  free(got);
  free(sent);
}

// Data, a fence, a flag: who sees the flag sees the data.
static void check_fence(aq_endpoint* ep) {
  size_t bytes = 0;
  unsigned char* const mine = aq_my_segment(ep, 0, &bytes);
  memset(mine, 0, 1024);
  OK(aq_barrier(ep));
  const aq_options notify = {AQ_NOTIFY, 0, NULL, NULL};
  for (uint64_t round = 1; round <= 20; ++round) {
    const uint64_t data[2] = {round * 3, round * 5};
    OK(aq_put_nbi(ep, aq_at(next_of(ep), 0, 0), data, sizeof data, NULL));
    OK(aq_fence(ep, round % 2 == 0 ? next_of(ep) : AQ_ANY_RANK));
    OK(aq_put_nbi(ep, aq_at(next_of(ep), 0, 512), &round, sizeof round, &notify));
    OK(aq_wait_on_u64(ep, aq_at(aq_rank(ep), 0, 512), AQ_EQUAL, round, 30 * SECOND, previous_of(ep)));
    uint64_t seen[2];
    memcpy(seen, mine, sizeof seen);
    HOLDS(seen[0] == round * 3 && seen[1] == round * 5);
    OK(aq_wait_implicit(ep));
    OK(aq_barrier(ep));
  }
}

static void run(aq_endpoint* ep, void* context) {
  (void)context;
  check_sizes(ep);
  check_values(ep);
  check_events(ep);
  check_shared_events(ep);
  check_continuations(ep);
  OK(aq_barrier(ep));
  check_groups(ep);
  check_fence(ep);
}

int main(void) { return run_job(run); }
