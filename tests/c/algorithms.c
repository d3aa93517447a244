// Algorithms that a program in C adds: found by their names, used, and refused if they are wrong.
#include "tests/c/algorithms/right.h"
#include "tests/c/check.h"

#include <string.h>

static const most_members kMany = {64, "it is for up to 64 members"};

// ---- Algorithms that are wrong ----

static void put_to_nobody(const aq_algorithm_call* call, uint32_t member, aq_step_list* steps,
                          void* context) {
  (void)member, (void)context;
  aq_step_put(steps, call->ranks, aq_step_at(AQ_STEP_INPUT, 0), 0, call->bytes, 0, AQ_NO_COUNTER);
}
static void copy_no_memory(const aq_algorithm_call* call, uint32_t member, aq_step_list* steps,
                           void* context) {
  (void)member, (void)context;
  aq_step_copy(steps, aq_step_at(4, 0), aq_step_at(AQ_STEP_OUTPUT, 0), call->bytes);
}
static void wait_for_ever(const aq_algorithm_call* call, uint32_t member, aq_step_list* steps,
                          void* context) {
  (void)call, (void)member, (void)context;
  aq_step_wait(steps, 0, 1);
}

// Adds it to a config that has nothing else: refused, and the last problem says why.
static void is_refused(const aq_algorithm* wrong, const char* why) {
  aq_config* const config = aq_config_create();
  HOLDS(config != NULL);
  FAILS(AQ_BAD_SETTING, aq_config_add_algorithm(config, wrong));
  HOLDS(aq_config_problems(config) == 1);
  char text[512];
  (void)aq_config_problem_text(config, 0, text, sizeof text);
  if (strstr(text, why) == NULL) fprintf(stderr, "the problem is: %s\nand not: %s\n", text, why);
  HOLDS(strstr(text, why) != NULL);
  aq_job* job = NULL;
  FAILS(AQ_BAD_SETTING, aq_job_in_process(1, config, &job));
  aq_config_destroy(config);
}

static void check_wrong_algorithms(void) {
  aq_algorithm wrong = backwards(&kMany);
  wrong.build = put_to_nobody;
  is_refused(
      &wrong,
      "backwards for broadcast cannot be added: step 0 of member 0 of 2 names a peer that is not there");
  wrong.build = copy_no_memory;
  is_refused(&wrong, "step 0 of member 0 of 2 names memory of a kind that is not there");
  wrong.build = wait_for_ever;
  is_refused(&wrong, "member 0 of 2 waits for 1 on counter 0, to which 0 is added in all");
  wrong.build = NULL;
  is_refused(&wrong, "it lacks a function");
  wrong = backwards(&kMany);
  wrong.name = NULL;
  is_refused(&wrong, "a name has 1 to 40 small letters");
  wrong.name = "k-nomial";
  is_refused(&wrong, "there is one of this name");
  wrong = backwards(&kMany);
  wrong.operation = AQ_COLL_ALL_TO_ALL_V;
  is_refused(&wrong, "all_to_all_v cannot be added: only operations from broadcast to exscan");
  wrong.operation = 1000;
  is_refused(&wrong, "only operations from broadcast to exscan");
  wrong = backwards(&kMany);
  wrong.parameters[0].most = 0;
  is_refused(&wrong, "parameter answers: from 1 to 0, usually 1, is no range");
}

static void check_arguments(void) {
  aq_config* const config = aq_config_create();
  aq_algorithm wrong = backwards(&kMany);
  wrong.reserved = 1;
  FAILS(AQ_INVALID_ARGUMENT, aq_config_add_algorithm(config, NULL));
  FAILS(AQ_INVALID_ARGUMENT, aq_config_add_algorithm(config, &wrong));
  wrong.reserved = 0;
  wrong.parameters[2].reserved = 1;
  FAILS(AQ_INVALID_ARGUMENT, aq_config_add_algorithm(config, &wrong));
  HOLDS(aq_config_problems(config) == 0);
  aq_config_destroy(config);
}

// ---- Algorithms that a job uses ----

// Right in the calls that are looked at when it is added, and wrong in one of 24 bytes.
static void build_wrong_for_24(const aq_algorithm_call* call, uint32_t me, aq_step_list* steps,
                               void* context) {
  (void)context;
  if (call->bytes == 24 && me == 1) aq_step_signal(steps, call->ranks, 0);
  for (uint32_t to = 0; to < call->ranks; ++to) {
    if (to != me)
      aq_step_put(steps, to, aq_step_at(AQ_STEP_INPUT, 0), me * call->bytes, call->bytes, 0, AQ_NO_COUNTER);
  }
  aq_step_wait(steps, 0, call->ranks - 1);
  for (uint32_t of = 0; of < call->ranks; ++of) {
    const aq_step_place from =
        of == me ? aq_step_at(AQ_STEP_INPUT, 0) : aq_step_at(AQ_STEP_SCRATCH, of * call->bytes);
    aq_step_copy(steps, from, aq_step_at(AQ_STEP_OUTPUT, of * call->pitch), call->bytes);
  }
}

static void check_broadcasts(aq_endpoint* ep, uint64_t words) {
  uint64_t* const block = malloc(words * sizeof *block);
  HOLDS(block != NULL);
  for (uint32_t root = 0; root < aq_ranks(ep); ++root) {
    for (uint64_t i = 0; i < words; ++i) block[i] = aq_rank(ep) == root ? i * 3 + root : 0;
    OK(aq_broadcast(aq_world(ep), aq_no_buffer(), aq_mine(block), aq_block_of(AQ_ELEMENT_U64, words), root,
                    NULL));
    for (uint64_t i = 0; i < words; ++i) HOLDS(block[i] == i * 3 + root);
  }
  free(block);
}

static void check_all_reduces(aq_endpoint* ep) {
  const int64_t ranks = aq_ranks(ep);
  int64_t mine[5], sum[5];
  for (int i = 0; i < 5; ++i) mine[i] = (int64_t)aq_rank(ep) + i;
  const aq_block block = aq_block_of(AQ_ELEMENT_I64, 5);
  OK(aq_all_reduce(aq_world(ep), aq_mine(mine), aq_mine(sum), block, aq_by(AQ_REDUCE_SUM), NULL));
  OK(aq_all_reduce(aq_world(ep), aq_no_buffer(), aq_mine(mine), block, aq_by(AQ_REDUCE_SUM), NULL));
  for (int i = 0; i < 5; ++i) HOLDS(sum[i] == ranks * (ranks - 1) / 2 + ranks * i && mine[i] == sum[i]);
}

// All members get the error of one member's wrong step, and the team goes on.
static void check_wrong_call(aq_endpoint* ep) {
  uint64_t all[64][3], mine[3] = {aq_rank(ep), 1, 2};
  HOLDS(aq_ranks(ep) <= 64);
  const int code = aq_ranks(ep) > 1 ? AQ_INVALID_ARGUMENT : AQ_OK;
  FAILS(code, aq_all_gather(aq_world(ep), aq_mine(mine), aq_mine(all), aq_block_of(AQ_ELEMENT_U64, 3), NULL));
  OK(aq_all_gather(aq_world(ep), aq_mine(mine), aq_mine(all), aq_block_of(AQ_ELEMENT_U64, 1), NULL));
  for (uint32_t of = 0; of < aq_ranks(ep); ++of) HOLDS((&all[0][0])[of] == of);
}

static int explains(aq_endpoint* ep, int operation, const char* words) {
  char text[8000];
  (void)aq_team_explain(aq_world(ep), operation, aq_block_of(AQ_ELEMENT_U64, 4), NULL, text, sizeof text);
  return strstr(text, words) != NULL;
}

static void run(aq_endpoint* ep, void* context) {
  (void)context;
  check_broadcasts(ep, 4);
  check_broadcasts(ep, 50000);  // in pieces
  check_all_reduces(ep);
  check_wrong_call(ep);
  if (aq_ranks(ep) == 1) return;  // nothing to choose
  HOLDS(explains(ep, AQ_COLL_BROADCAST, "\n  backwards:answers=2 (a setting asks for it)\n"));
  HOLDS(explains(ep, AQ_COLL_BROADCAST, "not for-one: it is for one member"));
  HOLDS(aq_statistic_value(ep, "broadcast_backwards") == 2 * aq_ranks(ep));
  HOLDS(aq_statistic_value(ep, "all_reduce_all-inputs") == 2);
  HOLDS(aq_statistic_value(ep, "broadcast_for-one") == 0);
}

int main(void) {
  check_wrong_algorithms();
  check_arguments();

  aq_config* const config = aq_config_from_environment();
  HOLDS(config != NULL);
  static const most_members kOne = {1, "it is for one member"};
  char name[] = "for-one";
  aq_algorithm few = backwards(&kOne);
  few.name = name;
  const aq_algorithm many = backwards(&kMany), reduction = all_inputs();
  aq_algorithm wrong = all_inputs();
  wrong.name = "wrong-for-24";
  wrong.operation = AQ_COLL_ALL_GATHER;
  wrong.build = build_wrong_for_24;
  OK(aq_config_add_algorithm(config, &few));
  OK(aq_config_add_algorithm(config, &many));
  OK(aq_config_add_algorithm(config, &reduction));
  OK(aq_config_add_algorithm(config, &wrong));
  memset(name, 'x', sizeof name - 1);  // the name was copied
  OK(aq_config_set(config, "coll_broadcast", "backwards:answers=2"));
  OK(aq_config_set(config, "coll_all_reduce", "all-inputs"));
  OK(aq_config_set(config, "coll_all_gather", "wrong-for-24"));

  aq_job* job = NULL;
  OK(aq_job_start(config, &job));
  aq_config_destroy(config);  // the job has its own
  OK(aq_job_run_each(job, run, NULL));
  OK(aq_job_finish(job));
  return 0;
}
