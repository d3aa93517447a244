#include "tests/c/collectives/checks.h"

void check_reductions(const member* m, int kind, int form, uint64_t n, uint32_t root,
                      const aq_coll_options* options) {
  buffers b;
  prepare(m, kind, &b);
  const aq_block block = aq_block_of(AQ_ELEMENT_I64, n);
  const aq_reducer sum = aq_by(AQ_REDUCE_SUM);
  const aq_buffer root_out = m->me == root || kind != kMine ? b.out_at : aq_no_buffer();

  fill(m, &b, n);
  CALL(form, reduce, b.in_at, root_out, block, sum, root);
  for (uint64_t i = 0; i < n; ++i) {
    check_number(b.out[i], m->me == root ? sum_of(m->ranks, i) : -1, i, "reduce");
  }

  fill(m, &b, n);
  CALL(form, all_reduce, b.in_at, b.out_at, block, sum);
  for (uint64_t i = 0; i < n; ++i) check_number(b.out[i], sum_of(m->ranks, i), i, "all_reduce");
  HOLDS(b.out[n] == -1);

  fill(m, &b, n * m->ranks);
  CALL(form, reduce_scatter, b.in_at, b.out_at, block, sum);
  for (uint64_t i = 0; i < n; ++i) {
    check_number(b.out[i], sum_of(m->ranks, m->me * n + i), i, "reduce_scatter");
  }
  HOLDS(b.out[n] == -1);

  fill(m, &b, n);
  CALL(form, scan, b.in_at, b.out_at, block, sum);
  for (uint64_t i = 0; i < n; ++i) check_number(b.out[i], sum_of(m->me + 1, i), i, "scan");

  fill(m, &b, n);
  CALL(form, exscan, b.in_at, b.out_at, block, sum);
  for (uint64_t i = 0; i < n; ++i) check_number(b.out[i], m->me == 0 ? -1 : sum_of(m->me, i), i, "exscan");
  free(b.memory);
}
