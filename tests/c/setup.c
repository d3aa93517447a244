// Settings, texts, queries, and a job of three ranks in this process. Runs without a launcher.
#include "tests/c/check.h"

#include <string.h>

static void check_texts(void) {
  HOLDS(aq_library_version() == AQ_VERSION);
  HOLDS(strlen(aq_library_version_text()) >= 5);
  char text[200], cut[8];
  const aq_status lost = {AQ_PEER_LOST, 3};
  const size_t length = aq_status_text(lost, text, sizeof text);
  HOLDS(length == strlen(text) && strstr(text, "peer_lost (rank 3)") != NULL);
  HOLDS(aq_status_text(lost, cut, sizeof cut) == length && strcmp(cut, "peer_lo") == 0);
  HOLDS(aq_status_text(lost, NULL, 0) == length);
  const aq_status unknown = {12345, AQ_NO_RANK};
  HOLDS(aq_status_text(unknown, text, sizeof text) > 0);
  HOLDS(aq_exit_code(aq_success()) == 0 && aq_exit_code(lost) == 10 + AQ_PEER_LOST);
}

static aq_config* check_config(void) {
  char text[100];
  int64_t number = 0;
  aq_config* const config = aq_config_create();
  HOLDS(config != NULL);
  OK(aq_config_set(config, "segment_bytes", "256K"));
  OK(aq_config_number(config, "segment_bytes", &number));
  HOLDS(number == 262144);
  HOLDS(aq_config_text(config, "segment_bytes", text, sizeof text) == 4 && strcmp(text, "256K") == 0);
  OK(aq_config_number(config, "bootstrap_timeout", &number));
  HOLDS(number >= SECOND);
  FAILS(AQ_BAD_SETTING, aq_config_number(config, "no_such_setting", &number));
  FAILS(AQ_BAD_SETTING, aq_config_number(config, "conduit", &number));  // it is no number
  HOLDS(aq_config_text(config, "no_such_setting", text, sizeof text) == 0 && text[0] == 0);
  OK(aq_config_set_threads(config, AQ_THREADS_SERIALIZED));
  FAILS(AQ_INVALID_ARGUMENT, aq_config_set_threads(config, 3));
  HOLDS(aq_config_problems(config) == 0);
  return config;
}

static void check_bad_config(void) {
  char text[200];
  aq_job* job = NULL;
  aq_config* const config = aq_config_from_environment();
  HOLDS(config != NULL);
  FAILS(AQ_BAD_SETTING, aq_config_set(config, "segment_byte", "1M"));
  HOLDS(aq_config_problems(config) == 1);
  HOLDS(aq_config_problem_text(config, 0, text, sizeof text) > 0 && strstr(text, "segment_byte") != NULL);
  HOLDS(aq_config_problem_text(config, 1, text, sizeof text) == 0);
  FAILS(AQ_BAD_SETTING, aq_job_in_process(2, config, &job));
  HOLDS(job == NULL);
  aq_config_destroy(config);
  FAILS(AQ_INVALID_ARGUMENT, aq_job_in_process(0, NULL, &job));
}

static void run(aq_endpoint* ep, void* context) {
  char text[32];
  aq_statistic rows[64];
  size_t count = 0;
  const uint32_t* const neighbours = aq_neighbours(ep, &count);
  HOLDS(aq_ranks(ep) == 3 && count == 3 && neighbours[2] == 2);
  HOLDS(aq_is_neighbour(ep, 2) && aq_host_of(ep, 0) == aq_host_of(ep, 2) && !aq_is_lost(ep, 1));
  HOLDS(aq_shares_processors(ep, 0) == aq_shares_processors(ep, 2));
  HOLDS(aq_conduit_of(ep, next_of(ep), text, sizeof text) == strlen(text) && text[0] != 0);
  HOLDS(aq_conduit_of(ep, 3, text, sizeof text) == 0);
  HOLDS(aq_threads_of(ep) == AQ_THREADS_SERIALIZED && !aq_in_handler(ep));
  HOLDS(aq_segment_bytes(ep, next_of(ep), 0) == 262144);
  uint64_t* const there = aq_local(ep, aq_at(next_of(ep), 0, 64), sizeof *there);
  HOLDS(there != NULL);
  OK(aq_barrier(ep));
  *there = aq_rank(ep) + 1;
  OK(aq_barrier(ep));
  const uint64_t* const mine = aq_local(ep, aq_at(aq_rank(ep), 0, 64), sizeof *mine);
  HOLDS(*mine == previous_of(ep) + 1);
  count = aq_statistics(ep, rows, 64);
  HOLDS(count > 10 && count == aq_statistics(ep, NULL, 0));
  HOLDS(aq_statistic_value(ep, "packets_sent") >= rows[0].value ||
        rows[0].name_bytes != strlen("packets_sent"));
  HOLDS(rows[0].name_bytes > 0 && aq_statistic_value(ep, "nonsense") == 0);
  __atomic_fetch_add((int*)context, 1, __ATOMIC_RELAXED);
  OK(aq_barrier(ep));
}

static void finish_inside(void* job, aq_status outcome) {
  OK(outcome);
  FAILS(AQ_IN_HANDLER, aq_job_finish(job));
}

// The job remains, as its endpoint is in use.
static void check_finish_in_continuation(void) {
  aq_job* job = NULL;
  OK(aq_job_in_process(1, NULL, &job));
  aq_endpoint* const ep = aq_job_endpoint(job, 0);
  aq_event event = aq_finished_event();
  OK(aq_then(ep, &event, finish_inside, job));
  HOLDS(aq_progress(ep) > 0);
  OK(aq_job_finish(job));
}

int main(void) {
  check_texts();
  aq_config* const config = check_config();
  check_bad_config();
  aq_job* job = NULL;
  OK(aq_job_in_process(3, config, &job));
  char text[32];
  HOLDS(aq_job_launcher(job, text, sizeof text) > 0 && strcmp(text, "in-process") == 0);
  HOLDS(aq_job_ranks(job) == 3 && aq_job_endpoints(job) == 3);
  HOLDS(aq_job_endpoint(job, 3) == NULL && aq_rank(aq_job_endpoint(job, 2)) == 2);
  int64_t number = 0;
  OK(aq_config_number(aq_job_config(job), "segment_bytes", &number));
  HOLDS(number == 262144);
  int runs = 0;
  OK(aq_job_run_each(job, run, &runs));
  HOLDS(runs == 3);
  FAILS(AQ_INVALID_ARGUMENT, aq_job_run_each(job, NULL, NULL));
  OK(aq_job_finish(job));
  aq_job_destroy(NULL);
  aq_config_destroy(config);
  aq_config_destroy(NULL);
  check_finish_in_continuation();
  return 0;
}
