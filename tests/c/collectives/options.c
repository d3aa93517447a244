// What the options of a call do.
#include "tests/c/collectives/checks.h"

void check_modes(const member* m) {
  aq_coll_options options = {AQ_SYNC_MINE, AQ_SYNC_MINE, AQ_ORDER_ANY, AQ_COLL_NO_TRIALS, AQ_FOREVER};
  for (int kind = 0; kind < kKinds; ++kind) {
    check_moves(m, kind, 0, 5, 0, &options);
    // A peer may still write to this member's places for the operation before it.
    OK(aq_team_barrier(m->team));
    check_reductions(m, kind, 1, 5, 0, &options);
    OK(aq_team_barrier(m->team));
  }
  buffers b;
  prepare(m, kMine, &b);
  fill(m, &b, 10);
  OK(aq_team_barrier(m->team));  // all inputs are ready
  options.in = AQ_SYNC_NONE;
  options.out = AQ_SYNC_ALL;
  OK(aq_all_reduce(m->team, b.in_at, b.out_at, aq_block_of(AQ_ELEMENT_I64, 10), aq_by(AQ_REDUCE_SUM),
                   &options));
  for (uint64_t i = 0; i < 10; ++i) check_number(b.out[i], sum_of(m->ranks, i), i, "all_reduce");
  free(b.memory);
}

void check_limit(const member* m) {
  if (m->ranks == 1) return;
  int64_t mine = input_of(m->me, 0), late = -1, next = -1;
  const aq_block block = aq_block_of(AQ_ELEMENT_I64, 1);
  const aq_coll_options brief = {AQ_SYNC_ALL, AQ_SYNC_ALL, AQ_ORDER_ANY, 0, 1000000};
  // The others call when the first member's call has come to its limit. A barrier would be a call of the team too.
  if (m->me != 0) {
    OK(aq_wait_signal(m->ep, 0, 1, AQ_ANY_RANK, 20000000000));
    OK(aq_reset_signal(m->ep, 0, 0));
  }
  const aq_status status = aq_all_reduce(m->team, aq_mine(&mine), aq_mine(&late), block, aq_by(AQ_REDUCE_SUM),
                                         m->me == 0 ? &brief : NULL);
  if (m->me == 0) {
    FAILS(AQ_TIMED_OUT, status);
    for (uint32_t i = 1; i < m->ranks; ++i) OK(aq_signal(m->ep, aq_team_rank_of(m->team, i), 0, 1));
  } else {
    OK(status);
  }
  OK(aq_all_reduce(m->team, aq_mine(&mine), aq_mine(&next), block, aq_by(AQ_REDUCE_SUM), NULL));
  HOLDS(next == sum_of(m->ranks, 0) && late == next);
}
