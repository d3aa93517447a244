// Atomics of all types, by name and by number, and in domains; pieces, and their sums.
#include "tests/c/check.h"

#include <string.h>

enum { kTimes = 50 };

static void clear(aq_endpoint* ep) {
  size_t bytes = 0;
  void* const mine = aq_my_segment(ep, 0, &bytes);
  OK(aq_barrier(ep));
  memset(mine, 0, 4096);
  OK(aq_barrier(ep));
}

// Every rank adds to words of rank 0.
static void check_by_name(aq_endpoint* ep) {
  clear(ep);
  const int64_t total = (int64_t)kTimes * aq_ranks(ep);
  for (int i = 0; i < kTimes; ++i) {
    int32_t i32 = -1;
    uint32_t u32 = 0;
    int64_t i64 = -1;
    uint64_t u64 = 0;
    OK(aq_fetch_add_i32(ep, aq_at(0, 0, 0), 1, &i32));
    OK(aq_fetch_add_u32(ep, aq_at(0, 0, 4), 1, &u32));
    OK(aq_fetch_add_i64(ep, aq_at(0, 0, 8), 1, &i64));
    OK(aq_fetch_add_u64(ep, aq_at(0, 0, 16), 1, &u64));
    HOLDS(i32 >= 0 && i32 < total && u32 < (uint64_t)total && i64 >= 0 && i64 < total &&
          u64 < (uint64_t)total);
    OK(aq_add_u64(ep, aq_at(0, 0, 24), 2));
  }
  OK(aq_barrier(ep));
  int32_t i32 = 0;
  uint64_t u64 = 0;
  OK(aq_load_i32(ep, aq_at(0, 0, 0), &i32));
  HOLDS(i32 == total);
  OK(aq_load_u64(ep, aq_at(0, 0, 16), &u64));
  HOLDS(u64 == (uint64_t)total);
  OK(aq_load_u64(ep, aq_at(0, 0, 24), &u64));
  HOLDS(u64 == 2 * (uint64_t)total);
  OK(aq_barrier(ep));
  // a word of the next rank, which only I use
  const aq_ptr word = aq_at(next_of(ep), 0, 64);
  OK(aq_store_u64(ep, word, 5));
  OK(aq_compare_swap_u64(ep, word, 5, 6, &u64));
  HOLDS(u64 == 5);
  OK(aq_compare_swap_u64(ep, word, 5, 7, &u64));
  HOLDS(u64 == 6);
  OK(aq_swap_u64(ep, word, 8, &u64));
  HOLDS(u64 == 6);
  OK(aq_load_u64(ep, word, &u64));
  HOLDS(u64 == 8);
  OK(aq_barrier(ep));
}

static void check_by_number(aq_endpoint* ep) {
  clear(ep);
  const aq_ptr word = aq_at(next_of(ep), 0, 128);
  uint64_t old = 0, operand = 12, expected = 0;
  OK(aq_atomic(ep, AQ_STORE, AQ_U64, word, &operand, NULL, NULL));
  operand = 10;
  OK(aq_atomic(ep, AQ_AND, AQ_U64, word, &operand, NULL, &old));
  HOLDS(old == 12);
  OK(aq_atomic(ep, AQ_OR, AQ_U64, word, &operand, NULL, &old));
  HOLDS(old == 8);
  operand = 3;
  OK(aq_atomic(ep, AQ_XOR, AQ_U64, word, &operand, NULL, &old));
  HOLDS(old == 10);
  OK(aq_atomic(ep, AQ_MULTIPLY, AQ_U64, word, &operand, NULL, &old));
  HOLDS(old == 9);
  OK(aq_atomic(ep, AQ_MIN, AQ_U64, word, &operand, NULL, &old));
  HOLDS(old == 27);
  operand = 100;
  OK(aq_atomic(ep, AQ_MAX, AQ_U64, word, &operand, NULL, &old));
  HOLDS(old == 3);
  expected = 100;
  operand = 1;
  OK(aq_atomic(ep, AQ_COMPARE_SWAP, AQ_U64, word, &operand, &expected, &old));
  HOLDS(old == 100);
  aq_event event = aq_atomic_nb(ep, AQ_ADD, AQ_U64, word, &operand, NULL, &old, NULL);
  DONE(ep, event);
  HOLDS(old == 1);
  const aq_options notify = {AQ_NOTIFY, 0, NULL, NULL};
  OK(aq_atomic_nbi(ep, AQ_ADD, AQ_U64, word, &operand, NULL, NULL, &notify));
  OK(aq_wait_implicit(ep));
  OK(aq_atomic(ep, AQ_LOAD, AQ_U64, word, NULL, NULL, &old));
  HOLDS(old == 3);

  const aq_ptr real = aq_at(next_of(ep), 0, 136);
  double x = 1.5, before = -1;
  OK(aq_atomic(ep, AQ_STORE, AQ_F64, real, &x, NULL, NULL));
  OK(aq_atomic(ep, AQ_ADD, AQ_F64, real, &x, NULL, &before));
  HOLDS(before >= 1.5 && before <= 1.5);
  OK(aq_atomic(ep, AQ_MIN, AQ_F64, real, &x, NULL, &before));
  HOLDS(before >= 3 && before <= 3);
  OK(aq_barrier(ep));
}

static void check_domain(aq_endpoint* ep) {
  clear(ep);
  aq_domain domain;
  OK(aq_domain_create(ep, 1u << AQ_LOAD | 1u << AQ_ADD | 1u << AQ_COMPARE_SWAP, AQ_U64, AQ_FAVOUR_REMOTE,
                      &domain));
  (void)aq_domain_is_native(&domain);
  const aq_ptr word = aq_at(0, 0, 200);
  const uint64_t one = 1;
  uint64_t old = 0;
  for (int i = 0; i < kTimes; ++i) OK(aq_domain_atomic(&domain, AQ_ADD, word, &one, NULL, &old));
  OK(aq_domain_atomic_nbi(&domain, AQ_ADD, word, &one, NULL, NULL, NULL));
  OK(aq_wait_implicit(ep));
  aq_event event = aq_domain_atomic_nb(&domain, AQ_ADD, word, &one, NULL, NULL, NULL);
  DONE(ep, event);
  OK(aq_barrier(ep));
  OK(aq_domain_atomic(&domain, AQ_LOAD, word, NULL, NULL, &old));
  HOLDS(old == (uint64_t)(kTimes + 2) * aq_ranks(ep));
  FAILS(AQ_INVALID_ARGUMENT, aq_domain_atomic(&domain, AQ_SWAP, word, &one, NULL, &old));
  FAILS(AQ_INVALID_ARGUMENT, aq_domain_atomic_nbi(&domain, 77, word, &one, NULL, NULL, NULL));
  OK(aq_barrier(ep));
}

// Column 2 of a matrix of 8 x 8 words, in four shapes.
static void check_pieces(aq_endpoint* ep) {
  clear(ep);
  size_t bytes = 0;
  const uint64_t* const mine = aq_my_segment(ep, 0, &bytes);
  uint64_t column[8], got[8];
  for (uint64_t i = 0; i < 8; ++i) column[i] = 100 * (aq_rank(ep) + 1) + i;
  const aq_dimension rows = {8, 64};
  aq_piece pieces[8];
  int64_t offsets[8];
  for (int64_t i = 0; i < 8; ++i) {
    pieces[i].offset = 64 * i;
    pieces[i].bytes = 8;
    offsets[i] = 64 * i;
  }
  const aq_shape strided = {AQ_STRIDED, 0, 8, &rows, 1}, indexed = {AQ_INDEXED, 0, 8, offsets, 8},
                 vector = {AQ_VECTOR, 0, 0, pieces, 8}, whole = {AQ_CONTIGUOUS, 0, 64, NULL, 0};
  const aq_shape* const shapes[] = {&strided, &indexed, &vector};
  for (uint64_t i = 0; i < 3; ++i) {
    const aq_ptr there = aq_at(next_of(ep), 0, 16 + 8 * i);
    OK(aq_put_pieces(ep, there, shapes[i], column, &whole));
    memset(got, 0, sizeof got);
    aq_event event = aq_get_pieces_nb(ep, got, &whole, there, shapes[i], NULL);
    DONE(ep, event);
    HOLDS(memcmp(got, column, sizeof got) == 0);
  }
  OK(aq_barrier(ep));
  for (int i = 0; i < 8; ++i) HOLDS(mine[8 * i + 2] == 100 * (previous_of(ep) + 1) + (uint64_t)i);

  // All ranks add to one column of rank 0.
  clear(ep);
  const aq_dimension elements = {8, 8};
  const aq_shape list = {AQ_STRIDED, 0, 8, &elements, 1};
  for (uint64_t i = 0; i < 8; ++i) column[i] = i;
  aq_event event = aq_accumulate_nb(ep, AQ_U64, aq_at(0, 0, 40), &strided, column, &list);
  DONE(ep, event);
  OK(aq_accumulate_nbi(ep, AQ_U64, aq_at(0, 0, 40), &strided, column, &list));
  OK(aq_wait_implicit(ep));
  OK(aq_barrier(ep));
  aq_ptr places[8];
  for (uint64_t i = 0; i < 8; ++i) places[i] = aq_at(0, 0, 40 + 64 * i);
  OK(aq_get_elements(ep, got, places, 8, 8));
  for (uint64_t i = 0; i < 8; ++i) HOLDS(got[i] == 2 * i * aq_ranks(ep));
  OK(aq_barrier(ep));
  for (uint64_t i = 0; i < 8; ++i) places[i] = aq_at(next_of(ep), 0, 1024 + 64 * i);
  OK(aq_put_elements(ep, places, column, 8, 8));
  OK(aq_get_pieces(ep, got, &whole, aq_at(next_of(ep), 0, 1024), &strided));
  HOLDS(memcmp(got, column, sizeof got) == 0);
  OK(aq_barrier(ep));
}

static void run(aq_endpoint* ep, void* context) {
  (void)context;
  check_by_name(ep);
  check_by_number(ep);
  check_domain(ep);
  check_pieces(ep);
}

int main(void) { return run_job(run); }
