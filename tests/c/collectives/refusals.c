#include "tests/c/collectives/checks.h"

void check_refusals(aq_endpoint* ep) {
  aq_team* team = NULL;
  int64_t in[8] = {0}, out[8] = {0};
  const uint32_t beyond = aq_ranks(ep);
  const aq_buffer from = aq_mine(in), to = aq_mine(out), strange = {99, 0, 0, in, NULL};
  const aq_block one = aq_block_of(AQ_ELEMENT_I64, 1), huge = aq_block_of(AQ_ELEMENT_I64, UINT64_MAX / 2);
  const aq_reducer sum = aq_by(AQ_REDUCE_SUM);
  const aq_coll_options unknown = {3, 0, 0, 0, 0}, reserved = {0, 0, 0, 2, 0};
  for (int i = 0; i < 11; ++i) {
    OK(aq_team_split(aq_world(ep), 0, 0, &team));
    aq_event event = aq_finished_event();
    aq_plan* plan = NULL;
    switch (i) {
      case 0: FAILS(AQ_INVALID_ARGUMENT, aq_broadcast(team, from, to, one, beyond, NULL)); break;
      case 1: event = aq_broadcast_nb(team, from, to, one, beyond, NULL); break;
      case 2: FAILS(AQ_INVALID_ARGUMENT, aq_broadcast_plan(team, from, to, one, beyond, NULL, &plan)); break;
      case 3: FAILS(AQ_INVALID_ARGUMENT, aq_all_reduce(team, strange, to, one, sum, NULL)); break;
      case 4: FAILS(AQ_INVALID_ARGUMENT, aq_all_reduce(team, from, to, huge, sum, NULL)); break;
      case 5: FAILS(AQ_INVALID_ARGUMENT, aq_all_reduce(team, from, to, one, aq_by(256), NULL)); break;
      case 6: FAILS(AQ_INVALID_ARGUMENT, aq_all_reduce(team, from, to, one, aq_by_user(99), NULL)); break;
      case 7: FAILS(AQ_INVALID_ARGUMENT, aq_all_reduce(team, from, to, one, sum, &unknown)); break;
      case 8: FAILS(AQ_INVALID_ARGUMENT, aq_all_reduce(team, from, to, one, sum, &reserved)); break;
      case 9:
        FAILS(AQ_INVALID_ARGUMENT, aq_all_reduce(team, from, to, aq_block_of(300, 1), sum, NULL));
        break;
      default:
        FAILS(AQ_OUT_OF_RANGE,
              aq_all_reduce(team, aq_on_all(0, UINT64_MAX), aq_on_all(0, 0), one, sum, NULL));
    }
    HOLDS(plan == NULL && aq_done(&event));
    if (i == 1) FAILS(AQ_INVALID_ARGUMENT, aq_wait(ep, &event));
    aq_plan_destroy(plan);
    aq_team_destroy(team);
    OK(aq_barrier(ep));
  }
}
