// Collective operations of all forms and kinds of buffers, beside a model that adds up one element at a time.
// The checks are in tests/c/collectives/; here are the teams on which they run.
#include "tests/c/collectives/checks.h"

static const uint64_t kCounts[] = {0, 1, 3, 64, kMostCount};
static const size_t kCountsCount = sizeof kCounts / sizeof kCounts[0];

static void check_team(aq_endpoint* ep, aq_team* team, unsigned* combined) {
  const member whole = {ep, team, aq_team_index(team), aq_team_size(team)};
  const member* const m = &whole;
  for (int kind = 0; kind < kKinds; ++kind) {
    for (size_t i = 0; i < kCountsCount; ++i) {
      for (int form = 0; form < kForms; ++form) {
        const uint32_t root = (uint32_t)(i + (size_t)form) % m->ranks;
        check_moves(m, kind, form, kCounts[i], root, NULL);
        check_reductions(m, kind, form, kCounts[i], root, NULL);
      }
      check_in_place(m, kind, kCounts[i]);
    }
  }
  check_operators(m, combined);
  for (uint32_t root = 0; root < m->ranks; ++root) {
    for (int form = 0; form < kForms; ++form) check_blocks(m, form, root);
  }
  check_blocks_that_differ(m);
  check_modes(m);
  check_limit(m);
  check_explain(m);
  check_tune(m);
}

// A team whose scratch is in my segment.
static void check_own_scratch(aq_endpoint* ep, unsigned* combined) {
  aq_team* team = NULL;
  OK(aq_team_split(aq_world(ep), 0, aq_rank(ep), &team));
  size_t bytes = 0;
  unsigned char* const segment = aq_my_segment(ep, 0, &bytes);
  const uint64_t least = aq_team_least_scratch(team);
  // Behind the buffers of the calls.
  const uint64_t behind = (2 * kSpace + 8 * 64 + 63) / 64 * 64;
  HOLDS(least != 0 && behind + least <= bytes);
  void* const memory = segment + behind;
  if (aq_ranks(ep) > 1) FAILS(AQ_INVALID_ARGUMENT, aq_team_use_scratch(team, memory, least - 64));
  OK(aq_team_use_scratch(team, memory, least));
  check_team(ep, team, combined);
  OK(aq_team_use_scratch(team, NULL, 0));
  OK(aq_team_end(team));
  aq_team_destroy(team);
}

// A tree by words, and one by parents: the last member is the root. Null is no tree, and all members hear of it.
static void check_trees(aq_endpoint* ep) {
  aq_team* team = NULL;
  OK(aq_team_split(aq_world(ep), 0, aq_rank(ep), &team));
  uint32_t parents[65] = {0};
  const uint32_t ranks = aq_ranks(ep);
  HOLDS(ranks <= 64);
  for (uint32_t i = 0; i < ranks; ++i) parents[i] = i + 1 < ranks ? i + 1 : AQ_NO_RANK;
  OK(aq_team_use_tree(team, "2-nomial"));
  OK(aq_team_use_tree_of(team, parents, ranks));
  int64_t mine = aq_rank(ep) + 1, sum = 0;
  OK(aq_all_reduce(team, aq_mine(&mine), aq_mine(&sum), aq_block_of(AQ_ELEMENT_I64, 1), aq_by(AQ_REDUCE_SUM),
                   NULL));
  HOLDS(sum == (int64_t)ranks * (ranks + 1) / 2);
  FAILS(AQ_INVALID_ARGUMENT, aq_team_use_tree(team, NULL));
  FAILS(AQ_INVALID_ARGUMENT, aq_team_use_tree_of(team, NULL, ranks));
  FAILS(AQ_INVALID_ARGUMENT, aq_team_use_tree_of(team, parents, ranks + 1));
  OK(aq_team_use_tree_of(team, NULL, 0));
  OK(aq_team_end(team));
  aq_team_destroy(team);
}

static void run(aq_endpoint* ep, void* context) {
  (void)context;
  unsigned combined = 0;  // the operator's context, so one for both teams
  check_team(ep, aq_world(ep), &combined);
  aq_team* reversed = NULL;
  OK(aq_team_split(aq_world(ep), 0, -(int64_t)aq_rank(ep), &reversed));
  check_team(ep, reversed, &combined);
  OK(aq_team_end(reversed));
  int64_t number = 0;
  FAILS(AQ_CLOSED, aq_all_reduce(reversed, aq_no_buffer(), aq_mine(&number), aq_block_of(AQ_ELEMENT_I64, 1),
                                 aq_by(AQ_REDUCE_SUM), NULL));
  aq_team_destroy(reversed);
  check_own_scratch(ep, &combined);
  check_trees(ep);
  check_refusals(ep);
}

int main(void) { return run_job(run); }
