// Null for handles, and for the places where calls store what they have made. A call that has no status answers as of nothing.
#include "tests/c/nulls/nulls.h"

#define REFUSED(call) FAILS(AQ_INVALID_ARGUMENT, call)

static aq_status outcome(aq_endpoint* ep, aq_event event) { return aq_wait(ep, &event); }
static bool never(void* context) { return (void)context, false; }

static void check_endpoints(aq_endpoint* ep) {
  aq_endpoint* const no = NO(aq_endpoint);
  size_t count = 0;
  HOLDS(aq_my_segment(no, 0, &count) == NULL && aq_my_segment(ep, 0, NO(size_t)) == NULL);
  HOLDS(aq_segment_bytes(no, 0, 0) == 0 && aq_base_of(no, 0, 0) == 0);
  HOLDS(aq_local(no, aq_at(0, 0, 0), 8) == NULL && !aq_is_mapped_without_window(no, 0, 0) &&
        aq_map_all(no, 0) == 0);
  HOLDS(aq_neighbours(no, &count) == NULL && aq_neighbours(ep, NO(size_t)) == NULL);
  HOLDS(!aq_is_neighbour(no, 0) && aq_host_of(no, 0) == AQ_NO_RANK && !aq_shares_processors(no, 0) &&
        !aq_is_lost(no, 0));
  char text[4] = "abc";
  HOLDS(aq_conduit_of(no, 0, text, sizeof text) == 0 && text[0] == 0);
  HOLDS(aq_conduit_of(ep, 0, NULL, 5) > 0);  // a text without a place: its length alone
  HOLDS(aq_threads_of(no) == AQ_THREADS_SINGLE && aq_progress(no) == 0 && !aq_in_handler(no));
  HOLDS(aq_statistics(no, NULL, 0) == 0 && aq_statistics(ep, NULL, 3) > 3);
  HOLDS(aq_statistic_value(no, "payload_bytes_sent") == 0 && aq_statistic_value(ep, NULL) == 0);
  HOLDS(aq_am_limits_of(no, 0).medium == 0);
  HOLDS(aq_world(no) == NULL);
  REFUSED(aq_barrier(no));
  REFUSED(aq_wait_until(no, never, NULL, SECOND, AQ_NO_RANK));
  REFUSED(aq_progress_for(no, SECOND));
  bool holds = false;
  REFUSED(aq_wait_on_u64(no, aq_at(0, 0, 0), AQ_EQUAL, 0, SECOND, AQ_NO_RANK));
  REFUSED(aq_test_on_i32(no, aq_at(0, 0, 0), AQ_EQUAL, 0, &holds));
  REFUSED(aq_test_on_i32(ep, aq_at(aq_rank(ep), 0, 0), AQ_EQUAL, 0, NO(bool)));
}

static void check_teams(aq_endpoint* ep) {
  aq_team *const no = NO(aq_team), *const world = aq_world(ep);
  aq_team* made = NULL;
  aq_rank_list* list = NULL;
  uint32_t index = 0;
  HOLDS(aq_team_size(no) == 0 && aq_team_index(no) == AQ_NO_RANK);
  HOLDS(aq_team_rank_of(no, 0) == AQ_NO_RANK && aq_team_index_of(no, 0) == AQ_NO_RANK);
  REFUSED(aq_team_split(no, 0, 0, &made));
  REFUSED(aq_team_split(world, 0, 0, NO(aq_team*)));
  REFUSED(aq_team_create(NO(aq_endpoint), &index, 1, 0, &made));
  REFUSED(aq_team_create(ep, &index, 1, 0, NO(aq_team*)));
  REFUSED(aq_team_create_of_list(ep, NO(aq_rank_list), 0, &made));
  REFUSED(aq_team_split_list(no, list, &made));
  REFUSED(aq_team_split_list(world, NO(aq_rank_list), &made));
  REFUSED(aq_team_dup(no, &made));
  REFUSED(aq_team_dup(world, NO(aq_team*)));
  REFUSED(aq_team_rank_list(no, &list));
  REFUSED(aq_team_rank_list(world, NO(aq_rank_list*)));
  REFUSED(aq_team_on_my_host(no, &list));
  REFUSED(aq_team_host_leaders(no, &list));
  REFUSED(aq_team_translate(no, &index, 1, world, &index));
  REFUSED(aq_team_translate(world, &index, 1, no, &index));
  HOLDS(aq_team_compare(no, world) == AQ_LIKENESS_DIFFERENT &&
        aq_team_compare(world, no) == AQ_LIKENESS_DIFFERENT);
  REFUSED(aq_team_end(no));
  REFUSED(aq_team_notify(no));
  REFUSED(aq_team_wait(no));
  REFUSED(aq_team_barrier(no));
  REFUSED(outcome(ep, aq_team_barrier_nb(no)));
  REFUSED(aq_team_notify_value(no, 1));
  REFUSED(aq_team_barrier_value(no, 1));
  REFUSED(aq_team_disagree(no));
  HOLDS(!aq_team_agreed(no, &index));
  REFUSED(outcome(ep, aq_team_barrier_value_nb(no, 1)));
  HOLDS(aq_team_try_wait(no));  // a loop over it ends; the wait then refuses
  aq_team_destroy(no);
}

static void check_collectives(aq_endpoint* ep) {
  aq_team* const no = NO(aq_team);
  const aq_block block = aq_block_of(AQ_ELEMENT_U64, 1);
  uint64_t in = 1, out = 0;
  aq_plan* plan = NULL;
  REFUSED(aq_broadcast(no, aq_mine(&in), aq_mine(&out), block, 0, NULL));
  REFUSED(outcome(ep, aq_all_reduce_nb(no, aq_mine(&in), aq_mine(&out), block, aq_by(AQ_REDUCE_SUM), NULL)));
  REFUSED(outcome(ep, aq_all_gather_v_nb(no, aq_mine(&in), aq_mine(&out), aq_no_blocks(), block, NULL)));
  REFUSED(aq_permute(no, aq_mine(&in), aq_mine(&out), block, 0, AQ_ANY_SOURCE, NULL));
  REFUSED(aq_gather_plan(no, aq_mine(&in), aq_mine(&out), block, 0, NULL, &plan));
  REFUSED(aq_gather_plan(aq_world(ep), aq_mine(&in), aq_mine(&out), block, 0, NULL, NO(aq_plan*)));
  REFUSED(outcome(ep, aq_plan_start(NO(aq_plan))));
  REFUSED(aq_plan_run(NO(aq_plan)));
  REFUSED(aq_plan_end(NO(aq_plan)));
  aq_plan_destroy(NO(aq_plan));
  const aq_operator with = {NULL, NULL, 8, 1, 0};
  REFUSED(aq_operator_add(NO(aq_endpoint), 1, &with));
  REFUSED(aq_operator_add(ep, 1, NO(aq_operator)));
  HOLDS(aq_team_least_scratch(no) == 0 && aq_team_explain(no, AQ_COLL_REDUCE, block, NULL, NULL, 0) == 0);
  REFUSED(aq_team_use_scratch(no, &in, 8));
  REFUSED(aq_team_use_tree(no, "flat"));
  REFUSED(aq_team_use_tree_of(no, NULL, 0));
  const int operation = AQ_COLL_BARRIER;
  REFUSED(aq_team_tune(no, &operation, 1, &in, 1, NULL, NULL));
}

static void check_segments(aq_endpoint* ep) {
  aq_team* const no = NO(aq_team);
  aq_segment* segment = NULL;
  aq_segment_memory* memory = NULL;
  size_t bytes = 0;
  REFUSED(aq_segment_create(no, 64, &segment));
  REFUSED(aq_segment_create(aq_world(ep), 64, NO(aq_segment*)));  // all members call it so
  REFUSED(aq_segment_attach(no, &bytes, 8, &segment));
  REFUSED(aq_segment_allocate(NO(aq_endpoint), 64, &memory));
  REFUSED(aq_segment_allocate(ep, 64, NO(aq_segment_memory*)));
  HOLDS(aq_segment_memory_bytes(NO(aq_segment_memory), &bytes) == NULL);
  OK(aq_segment_allocate(ep, 64, &memory));
  HOLDS(aq_segment_memory_bytes(memory, NO(size_t)) == NULL);
  REFUSED(aq_segment_publish(no, memory, &segment));  // and frees the memory
  HOLDS(segment == NULL);
  aq_segment_memory_free(NO(aq_segment_memory));
  REFUSED(aq_segment_release(NO(aq_segment)));
  aq_segment_destroy(NO(aq_segment));
  HOLDS(aq_segment_id(NO(aq_segment)) == UINT32_MAX && aq_segment_mine(NO(aq_segment), &bytes) == NULL);
  HOLDS(aq_segment_members(NO(aq_segment)) == 0 && aq_segment_rank_of(NO(aq_segment), 0) == AQ_NO_RANK);
  uint64_t most = 7;
  aq_segment_most_bytes(NO(aq_endpoint), &most, &most);
  aq_segment_most_bytes(ep, NO(uint64_t), &most);
  HOLDS(most == 7);
}

static void check_groups_and_events(aq_endpoint* ep) {
  aq_group *const no = NO(aq_group), *group = NULL;
  REFUSED(aq_group_create(NO(aq_endpoint), &group));
  REFUSED(aq_group_create(ep, NO(aq_group*)));
  REFUSED(aq_group_wait(no, SECOND));
  REFUSED(aq_group_wait_source(no));
  HOLDS(aq_group_done(no) && aq_group_source_done(no) && aq_group_test(no) && aq_group_test_source(no));
  HOLDS(aq_group_in_flight(no) == 0 && aq_group_sources_in_flight(no) == 0);
  aq_group_destroy(no);
  aq_shared_event shared = aq_share(NO(aq_event));
  HOLDS(shared.word == NULL);
  REFUSED(aq_shared_wait(NO(aq_endpoint), &shared, SECOND));
  REFUSED(aq_shared_wait(ep, NO(aq_shared_event), SECOND));
  HOLDS(aq_shared_test(NO(aq_endpoint), &shared) && aq_shared_test(ep, NO(aq_shared_event)));
  aq_shared_drop(NO(aq_shared_event));
}

static void check_lists(void) {
  const uint32_t ranks[] = {3, 5};
  const aq_rank_range range = {0, 1, 1};
  aq_rank_list *const no = NO(aq_rank_list), *list = NULL, *made = NULL;
  OK(aq_rank_list_of(ranks, 2, &list));
  REFUSED(aq_rank_list_of(ranks, 2, NO(aq_rank_list*)));
  REFUSED(aq_rank_list_of_ranges(&range, 1, NO(aq_rank_list*)));
  HOLDS(aq_rank_list_size(no) == 0 && aq_rank_list_rank_of(no, 0) == AQ_NO_RANK);
  HOLDS(aq_rank_list_index_of(no, 0) == AQ_NO_RANK);
  REFUSED(aq_rank_list_union(list, no, &made));
  REFUSED(aq_rank_list_intersection(no, list, &made));
  REFUSED(aq_rank_list_difference(list, list, NO(aq_rank_list*)));
  REFUSED(aq_rank_list_include(no, ranks, 0, &made));
  REFUSED(aq_rank_list_exclude(list, ranks, 0, NO(aq_rank_list*)));
  REFUSED(aq_rank_list_include_ranges(no, &range, 1, &made));
  REFUSED(aq_rank_list_exclude_ranges(no, &range, 1, &made));
  uint32_t index = 0;
  REFUSED(aq_rank_list_translate(no, &index, 1, list, &index));
  REFUSED(aq_rank_list_translate(list, &index, 1, no, &index));
  HOLDS(aq_rank_list_compare(list, no) == AQ_LIKENESS_DIFFERENT);
  HOLDS(made == NULL);
  aq_rank_list_destroy(list);
}

static void check_settings_and_jobs(void) {
  aq_config* const no = NO(aq_config);
  int64_t number = 0;
  char text[4] = "abc";
  REFUSED(aq_config_set(no, "segment_bytes", "1M"));
  REFUSED(aq_config_set_threads(no, AQ_THREADS_SINGLE));
  REFUSED(aq_config_number(no, "segment_bytes", &number));
  HOLDS(aq_config_text(no, "segment_bytes", text, sizeof text) == 0 && text[0] == 0);
  HOLDS(aq_config_problems(no) == 0 && aq_config_problem_text(no, 0, text, sizeof text) == 0);
  aq_config* const config = aq_config_create();
  REFUSED(aq_config_number(config, "segment_bytes", NO(int64_t)));
  aq_config_destroy(config);
  aq_job* const job = NO(aq_job);
  REFUSED(aq_job_start(NULL, NO(aq_job*)));
  REFUSED(aq_job_in_process(1, NULL, NO(aq_job*)));
  REFUSED(aq_job_finish(job));
  REFUSED(aq_job_run_each(job, NULL, NULL));
  HOLDS(aq_job_ranks(job) == 0 && aq_job_endpoints(job) == 0 && aq_job_endpoint(job, 0) == NULL);
  HOLDS(aq_job_launcher(job, text, sizeof text) == 0 && aq_job_config(job) == NULL);
  aq_job_abort(job, 1, "no job");
  aq_job_request_leave(job, 1);
  aq_job_destroy(job);
}

void check_null_handles(aq_endpoint* ep) {
  check_endpoints(ep);
  check_teams(ep);
  check_collectives(ep);
  check_segments(ep);
  check_groups_and_events(ep);
  check_lists();
  check_settings_and_jobs();
}
