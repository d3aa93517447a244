// Calls whose input is in their output.
#include "tests/c/collectives/checks.h"

static void fill_in_place(const member* m, buffers* b, uint64_t first, uint64_t n) {
  fill(m, b, 0);
  for (uint64_t i = 0; i < n; ++i) b->out[first + i] = input_of(m->me, i);
}

void check_in_place(const member* m, int kind, uint64_t n) {
  buffers b;
  prepare(m, kind, &b);
  const aq_block block = aq_block_of(AQ_ELEMENT_I64, n);
  const aq_reducer sum = aq_by(AQ_REDUCE_SUM);
  const aq_buffer none = aq_no_buffer();
  const uint32_t root = m->ranks - 1;

  fill_in_place(m, &b, 0, n);
  OK(aq_broadcast(m->team, none, b.out_at, block, root, NULL));
  for (uint64_t i = 0; i < n; ++i) check_number(b.out[i], input_of(root, i), i, "broadcast in place");

  fill_in_place(m, &b, m->me * n, n);
  OK(aq_all_gather(m->team, none, b.out_at, block, NULL));
  for (uint64_t i = 0; i < n * m->ranks; ++i) {
    check_number(b.out[i], input_of((uint32_t)(i / n), i % n), i, "all_gather in place");
  }

  fill_in_place(m, &b, 0, n);
  OK(aq_all_reduce(m->team, none, b.out_at, block, sum, NULL));
  for (uint64_t i = 0; i < n; ++i) check_number(b.out[i], sum_of(m->ranks, i), i, "all_reduce in place");

  fill_in_place(m, &b, 0, n);
  OK(aq_scan(m->team, none, b.out_at, block, sum, NULL));
  for (uint64_t i = 0; i < n; ++i) check_number(b.out[i], sum_of(m->me + 1, i), i, "scan in place");

  fill_in_place(m, &b, 0, n);
  OK(aq_exscan(m->team, none, b.out_at, block, sum, NULL));
  for (uint64_t i = 0; i < n; ++i) {
    check_number(b.out[i], m->me == 0 ? input_of(0, i) : sum_of(m->me, i), i, "exscan in place");
  }

  // gather and scatter at the root, by addresses
  if (kind == kMine) {
    fill_in_place(m, &b, m->me == root ? m->me * n : 0, n);
    const aq_buffer own = aq_mine(b.out + (m->me == root ? m->me * n : 0));
    OK(aq_gather(m->team, own, m->me == root ? b.out_at : none, block, root, NULL));
    for (uint64_t i = 0; m->me == root && i < n * m->ranks; ++i) {
      check_number(b.out[i], input_of((uint32_t)(i / n), i % n), i, "gather in place");
    }
    fill(m, &b, n * m->ranks);
    const aq_buffer block_of_root = aq_mine(b.in + m->me * n);
    OK(aq_scatter(m->team, m->me == root ? b.in_at : none, m->me == root ? block_of_root : b.out_at, block,
                  root, NULL));
    const int64_t* const got = m->me == root ? b.in + m->me * n : b.out;
    for (uint64_t i = 0; i < n; ++i)
      check_number(got[i], input_of(root, m->me * n + i), i, "scatter in place");
  }
  free(b.memory);
}
