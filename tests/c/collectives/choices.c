// What a team tells of its choices, and how it looks for better ones.
#include "tests/c/collectives/checks.h"

#include <string.h>

void check_explain(const member* m) {
  char text[4000], cut[8];
  const aq_block block = aq_block_of(AQ_ELEMENT_F64, 100);
  const size_t length = aq_team_explain(m->team, AQ_COLL_ALL_REDUCE, block, NULL, text, sizeof text);
  HOLDS(length > 0 && strlen(text) == (length < sizeof text ? length : sizeof text - 1));
  HOLDS(aq_team_explain(m->team, AQ_COLL_ALL_REDUCE, block, NULL, cut, sizeof cut) == length);
  HOLDS(strlen(cut) == 7 && memcmp(text, cut, 7) == 0);
  HOLDS(aq_team_explain(m->team, AQ_COLL_ALL_REDUCE, block, NULL, NULL, 0) == length);
  HOLDS(aq_team_explain(m->team, -1, block, NULL, text, sizeof text) > 0);
}

static void count_work(void* context) { ++*(int*)context; }

void check_tune(const member* m) {
  const int operations[] = {AQ_COLL_BROADCAST, AQ_COLL_ALL_REDUCE};
  const uint64_t sizes[] = {256};
  int works = 0;
  aq_tune_options options;
  memset(&options, 0, sizeof options);
  options.time = 60000000000;  // beside other tests too, so that nothing is left out
  options.candidates = 2;
  options.type = AQ_ELEMENT_I64;
  options.work = count_work;
  options.context = &works;
  aq_tune_report report;
  memset(&report, 0xff, sizeof report);
  OK(aq_team_tune(m->team, operations, 2, sizes, 1, &options, &report));
  HOLDS(report.found + report.left_out == 2 && report.undecided <= report.found);
  HOLDS(report.saved == 0 && report.reserved == 0);
  HOLDS(m->ranks == 1 || (report.found == 2 && works > 0));
  const int wrong[] = {99};
  HOLDS(m->ranks == 1 || aq_team_tune(m->team, wrong, 1, sizes, 1, NULL, NULL).code == AQ_INVALID_ARGUMENT);
  // Lists that are not there: of all members, and of one, for which the others must not wait.
  HOLDS(m->ranks == 1 || aq_team_tune(m->team, NULL, 2, sizes, 1, NULL, NULL).code == AQ_INVALID_ARGUMENT);
  const uint64_t* const few = m->me == 0 ? NULL : sizes;
  HOLDS(m->ranks == 1 ||
        aq_team_tune(m->team, operations, 2, few, 1, NULL, NULL).code == AQ_INVALID_ARGUMENT);
}
