#include "tests/c/collectives/checks.h"

void check_moves(const member* m, int kind, int form, uint64_t n, uint32_t root,
                 const aq_coll_options* options) {
  buffers b;
  prepare(m, kind, &b);
  const aq_block block = aq_block_of(AQ_ELEMENT_I64, n);
  // Who needs no buffer has none, unless all members know all of them.
  const int has_all = m->me == root || kind != kMine;
  const aq_buffer root_in = has_all ? b.in_at : aq_no_buffer(),
                  root_out = has_all ? b.out_at : aq_no_buffer();

  fill(m, &b, n);
  CALL(form, broadcast, root_in, b.out_at, block, root);
  for (uint64_t i = 0; i < n; ++i) check_number(b.out[i], input_of(root, i), i, "broadcast");
  HOLDS(b.out[n] == -1);

  fill(m, &b, n * m->ranks);
  CALL(form, scatter, root_in, b.out_at, block, root);
  for (uint64_t i = 0; i < n; ++i) check_number(b.out[i], input_of(root, m->me * n + i), i, "scatter");
  HOLDS(b.out[n] == -1);

  fill(m, &b, n);
  CALL(form, gather, b.in_at, root_out, block, root);
  for (uint64_t i = 0; i < n * m->ranks; ++i) {
    check_number(b.out[i], m->me == root ? input_of((uint32_t)(i / n), i % n) : -1, i, "gather");
  }

  fill(m, &b, n);
  CALL(form, all_gather, b.in_at, b.out_at, block);
  for (uint64_t i = 0; i < n * m->ranks; ++i) {
    check_number(b.out[i], input_of((uint32_t)(i / n), i % n), i, "all_gather");
  }

  fill(m, &b, n * m->ranks);
  CALL(form, all_to_all, b.in_at, b.out_at, block);
  for (uint64_t i = 0; i < n * m->ranks; ++i) {
    check_number(b.out[i], input_of((uint32_t)(i / n), m->me * n + i % n), i, "all_to_all");
  }
  free(b.memory);
}
