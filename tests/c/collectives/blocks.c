#include "tests/c/collectives/checks.h"

#include <string.h>

/// The elements that one member sends to another in check_blocks.
static uint64_t length_of(uint32_t from, uint32_t to) { return (from * 3 + to * 5 + 1) % 4; }

void check_blocks(const member* m, int form, uint32_t root) {
  enum { kApart = 5 };
  const aq_coll_options* const options = NULL;
  int64_t in[8 * kApart], out[8 * kApart];
  uint64_t sends[8], receives[8], same[8], at[8];
  const uint64_t n = length_of(root, m->me);
  for (uint32_t i = 0; i < m->ranks; ++i) {
    sends[i] = length_of(m->me, i);
    receives[i] = length_of(i, m->me);
    same[i] = length_of(i, 0);
    at[i] = (uint64_t)kApart * (m->ranks - 1 - i);
  }
  for (uint64_t i = 0; i < 8 * kApart; ++i) in[i] = input_of(m->me, i);
  const uint64_t my_place = (uint64_t)kApart * (m->ranks - 1 - m->me);

  memset(out, 0xff, sizeof out);
  CALL(form, all_to_all_v, aq_mine(in), aq_blocks_of(sends, at), aq_mine(out), aq_blocks_of(receives, at),
       aq_block_of(AQ_ELEMENT_I64, 0));
  for (uint32_t from = 0; from < m->ranks; ++from) {
    for (uint64_t i = 0; i < kApart; ++i)
      check_number(out[at[from] + i], i < receives[from] ? input_of(from, my_place + i) : -1, i,
                   "all_to_all_v");
  }

  memset(out, 0xff, sizeof out);
  CALL(form, scatter_v, m->me == root ? aq_mine(in) : aq_no_buffer(),
       m->me == root ? aq_blocks_of(sends, at) : aq_no_blocks(), aq_mine(out), aq_block_of(AQ_ELEMENT_I64, n),
       root);
  for (uint64_t i = 0; i < kApart; ++i)
    check_number(out[i], i < n ? input_of(root, my_place + i) : -1, i, "scatter_v");

  memset(out, 0xff, sizeof out);
  CALL(form, gather_v, aq_mine(in), m->me == root ? aq_mine(out) : aq_no_buffer(),
       m->me == root ? aq_blocks_of(same, at) : aq_no_blocks(), aq_block_of(AQ_ELEMENT_I64, same[m->me]),
       root);
  for (uint32_t from = 0; from < m->ranks; ++from) {
    for (uint64_t i = 0; i < kApart; ++i)
      check_number(out[at[from] + i], m->me == root && i < same[from] ? input_of(from, i) : -1, i,
                   "gather_v");
  }

  memset(out, 0xff, sizeof out);
  CALL(form, all_gather_v, aq_mine(in), aq_mine(out), aq_blocks_of(same, NULL),
       aq_block_of(AQ_ELEMENT_I64, same[m->me]));
  uint64_t next = 0;
  for (uint32_t from = 0; from < m->ranks; ++from) {
    for (uint64_t i = 0; i < same[from]; ++i) check_number(out[next++], input_of(from, i), i, "all_gather_v");
  }
  HOLDS(out[next] == -1);

  memset(out, 0xff, sizeof out);
  const uint32_t to = (m->me + root) % m->ranks, from = (m->me + m->ranks - root) % m->ranks;
  CALL(form, permute, aq_mine(in), aq_mine(out), aq_block_of(AQ_ELEMENT_I64, 6), to,
       root % 2 == 0 ? AQ_ANY_SOURCE : from);
  for (uint64_t i = 0; i < 7; ++i) check_number(out[i], i < 6 ? input_of(from, i) : -1, i, "permute");
}

void check_blocks_that_differ(const member* m) {
  if (m->ranks < 2) return;
  int64_t in[8] = {0}, out[8] = {0};
  uint64_t counts[8];
  for (uint32_t i = 0; i < m->ranks; ++i) counts[i] = 1;
  if (m->me == 1) counts[0] = 0;
  FAILS(AQ_MISMATCH, aq_all_gather_v(m->team, aq_mine(in), aq_mine(out), aq_blocks_of(counts, NULL),
                                     aq_block_of(AQ_ELEMENT_I64, 1), NULL));
  FAILS(AQ_INVALID_ARGUMENT, aq_all_gather_v(m->team, aq_mine(in), aq_mine(out), aq_no_blocks(),
                                             aq_block_of(AQ_ELEMENT_I64, 1), NULL));
}
