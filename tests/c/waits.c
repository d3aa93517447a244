// Signals, words that are waited for, teams, lists of ranks, barriers with values, segments.
#include "tests/c/check.h"

#include <string.h>

static void check_signals(aq_endpoint* ep) {
  size_t bytes = 0;
  unsigned char* const mine = aq_my_segment(ep, 0, &bytes);
  unsigned char* const sent = new_pattern(aq_rank(ep), 3000);
  const uint32_t next = next_of(ep), previous = previous_of(ep), me = aq_rank(ep);
  const aq_ptr there = aq_at(next, 0, 0);
  HOLDS(aq_signal_value(ep, 3) == 0);
  OK(aq_barrier(ep));
  OK(aq_put_signal(ep, there, sent, 3000, 3, 2));
  OK(aq_wait_signal(ep, 3, 2, previous, 30 * SECOND));
  HOLDS(aq_test_signal(ep, 3, 2) && aq_signal_value(ep, 3) == 2);
  IS_PATTERN(mine, previous, 3000);
  OK(aq_barrier(ep));
  OK(aq_reset_signal(ep, 3, 0));
  OK(aq_barrier(ep));
  aq_event event = aq_put_signal_nb(ep, there, sent, 3000, 3, 1, NULL);
  DONE(ep, event);
  OK(aq_put_signal_nbi(ep, there, sent, 8, 3, 1, NULL));
  OK(aq_signal(ep, next, 3, 1));
  event = aq_signal_nb(ep, next, 3, 1);
  DONE(ep, event);
  OK(aq_wait_implicit(ep));
  OK(aq_wait_signal(ep, 3, 4, previous, 30 * SECOND));
  FAILS(AQ_TIMED_OUT, aq_wait_signal(ep, 3, 5, previous, SECOND / 1000));

  // to a word of the segment: set, then added to twice
  const aq_ptr word = aq_at(next, 0, 8000), mine_word = aq_at(me, 0, 8000);
  memset(mine, 0, 8192);
  OK(aq_barrier(ep));
  OK(aq_put_signal_word(ep, there, sent, 100, word, 10, AQ_SIGNAL_SET));
  OK(aq_wait_on_u64(ep, mine_word, AQ_GREATER_EQUAL, 10, 30 * SECOND, previous));
  IS_PATTERN(mine, previous, 100);
  event = aq_put_signal_word_nb(ep, there, sent, 3000, word, 1, AQ_SIGNAL_ADD, NULL);
  DONE(ep, event);
  OK(aq_put_signal_word_nbi(ep, there, sent, 0, word, 1, AQ_SIGNAL_ADD, NULL));
  OK(aq_wait_on_u64(ep, mine_word, AQ_GREATER_EQUAL, 12, 30 * SECOND, previous));
  IS_PATTERN(mine, previous, 3000);
  OK(aq_wait_implicit(ep));
  OK(aq_barrier(ep));
  free(sent);
}

typedef struct Looked {
  const int32_t* flag;
  int calls;
} Looked;
static bool is_flag_set(void* context) {
  Looked* const looked = context;
  ++looked->calls;
  return __atomic_load_n(looked->flag, __ATOMIC_ACQUIRE) < 0;
}
static bool never(void* context) {
  (void)context;
  return false;
}

static void check_words(aq_endpoint* ep) {
  size_t bytes = 0;
  void* const mine = aq_my_segment(ep, 0, &bytes);
  memset(mine, 0, 64);
  OK(aq_barrier(ep));
  const aq_ptr here = aq_at(aq_rank(ep), 0, 0);
  bool holds = true;
  OK(aq_test_on_u32(ep, here, AQ_NOT_EQUAL, 0, &holds));
  HOLDS(!holds);
  OK(aq_test_on_i64(ep, here, AQ_LESS_EQUAL, 0, &holds));
  HOLDS(holds);
  OK(aq_test_on_u64(ep, here, AQ_GREATER, 0, &holds));
  HOLDS(!holds);
  FAILS(AQ_TIMED_OUT, aq_wait_on_u32(ep, here, AQ_EQUAL, 1, SECOND / 1000, AQ_NO_RANK));
  FAILS(AQ_TIMED_OUT, aq_wait_until(ep, never, NULL, SECOND / 1000, AQ_NO_RANK));
  const aq_status idle = aq_progress_for(ep, SECOND / 1000);
  HOLDS(aq_ok(idle) || idle.code == AQ_TIMED_OUT);
  OK(aq_barrier(ep));
  // a negative number: less than 0 as an int32_t only
  const int32_t flag = -1;
  const aq_options notify = {AQ_NOTIFY, 0, NULL, NULL};
  aq_event event = aq_put_nb(ep, aq_at(next_of(ep), 0, 4), &flag, sizeof flag, &notify);
  DONE(ep, event);
  Looked looked = {(const int32_t*)mine + 1, 0};
  OK(aq_wait_until(ep, is_flag_set, &looked, 30 * SECOND, AQ_ANY_RANK));
  HOLDS(looked.calls > 0);
  OK(aq_wait_on_i32(ep, aq_at(aq_rank(ep), 0, 4), AQ_EQUAL, -1, 0, AQ_NO_RANK));
  OK(aq_wait_on_u32(ep, aq_at(aq_rank(ep), 0, 4), AQ_GREATER, 5, 0, AQ_NO_RANK));
  OK(aq_wait_on_i64(ep, aq_at(aq_rank(ep), 0, 8), AQ_EQUAL, 0, 0, AQ_NO_RANK));
  OK(aq_barrier(ep));
}

static void check_teams(aq_endpoint* ep) {
  const uint32_t me = aq_rank(ep), ranks = aq_ranks(ep);
  aq_team* const world = aq_world(ep);
  HOLDS(aq_team_size(world) == ranks && aq_team_index(world) == me);
  HOLDS(aq_team_rank_of(world, ranks) == AQ_NO_RANK);

  aq_team* half = NULL;  // the even ranks and the odd ones, in falling order
  OK(aq_team_split(world, me % 2, -(int64_t)me, &half));
  HOLDS(half != NULL && aq_team_size(half) == (ranks + 1 - me % 2) / 2);
  HOLDS(aq_team_rank_of(half, aq_team_size(half) - 1) == me % 2 &&
        aq_team_index_of(half, me) == aq_team_index(half));
  HOLDS(aq_team_index_of(half, (me + 1) % ranks) == AQ_NO_RANK || ranks % 2 == 1);
  OK(aq_team_barrier(half));
  OK(aq_team_end(half));
  FAILS(AQ_CLOSED, aq_team_barrier(half));
  aq_team_destroy(half);
  aq_team_destroy(NULL);

  aq_team* none = world;
  OK(aq_team_split(world, me == 0 ? 0 : AQ_NO_COLOUR, 0, &none));
  HOLDS((none == NULL) == (me != 0));
  aq_team_destroy(none);

  uint32_t* const reversed = malloc(ranks * sizeof *reversed);
  HOLDS(reversed != NULL);
  for (uint32_t i = 0; i < ranks; ++i) reversed[i] = ranks - 1 - i;
  aq_team* made = NULL;
  OK(aq_team_create(ep, reversed, ranks, 7, &made));
  HOLDS(aq_team_index(made) == ranks - 1 - me);
  OK(aq_team_notify_value(made, 5));
  while (!aq_team_try_wait(made)) continue;
  OK(aq_team_wait(made));
  uint32_t agreed = 0;
  HOLDS(aq_team_agreed(made, &agreed) && agreed == 5 && aq_team_agreed(made, NULL));
  OK(aq_team_disagree(made));
  FAILS(AQ_MISMATCH, aq_team_wait(made));
  HOLDS(!aq_team_agreed(made, &agreed));
  OK(aq_team_notify(made));
  OK(aq_team_wait(made));
  FAILS(ranks > 1 ? AQ_MISMATCH : AQ_OK, aq_team_barrier_value(made, me == 0));
  aq_event events[3] = {aq_team_barrier_nb(made), aq_team_barrier_value_nb(made, 9),
                        aq_team_barrier_nb(made)};
  OK(aq_wait_all(ep, events, 3));
  OK(aq_team_end(made));
  aq_team_destroy(made);
  free(reversed);
}

// `list` has these ranks in this order. It is destroyed.
static void check_list(aq_rank_list* list, const uint32_t* ranks, uint32_t count) {
  HOLDS(aq_rank_list_size(list) == count);
  for (uint32_t i = 0; i < count; ++i) {
    HOLDS(aq_rank_list_rank_of(list, i) == ranks[i]);
    HOLDS(aq_rank_list_index_of(list, ranks[i]) == i);
  }
  HOLDS(aq_rank_list_rank_of(list, count) == AQ_NO_RANK);
  aq_rank_list_destroy(list);
}

static void check_rank_lists(void) {
  const uint32_t first[] = {6, 2, 9, 4}, second[] = {4, 5, 6}, united[] = {6, 2, 9, 4, 5}, common[] = {6, 4},
                 rest[] = {2, 9}, chosen[] = {3, 0}, at_chosen[] = {4, 6}, not_chosen[] = {2, 9};
  const aq_rank_range ranges[] = {{4, 8, 2}, {3, 1, -1}}, indices[] = {{2, 0, -2}};
  const uint32_t in_ranges[] = {4, 6, 8, 3, 2, 1}, at_indices[] = {9, 6}, not_at_indices[] = {2, 4};
  aq_rank_list *a = NULL, *b = NULL, *made = NULL;
  OK(aq_rank_list_of(first, 4, &a));
  OK(aq_rank_list_of(second, 3, &b));
  OK(aq_rank_list_union(a, b, &made));
  check_list(made, united, 5);
  OK(aq_rank_list_intersection(a, b, &made));
  check_list(made, common, 2);
  OK(aq_rank_list_difference(a, b, &made));
  check_list(made, rest, 2);
  OK(aq_rank_list_include(a, chosen, 2, &made));
  check_list(made, at_chosen, 2);
  OK(aq_rank_list_exclude(a, chosen, 2, &made));
  check_list(made, not_chosen, 2);
  OK(aq_rank_list_of_ranges(ranges, 2, &made));
  check_list(made, in_ranges, 6);
  OK(aq_rank_list_include_ranges(a, indices, 1, &made));
  check_list(made, at_indices, 2);
  OK(aq_rank_list_exclude_ranges(a, indices, 1, &made));
  check_list(made, not_at_indices, 2);
  uint32_t places[] = {0, 1, AQ_NO_RANK};
  OK(aq_rank_list_translate(a, places, 3, b, places));
  HOLDS(places[0] == 2 && places[1] == AQ_NO_RANK && places[2] == AQ_NO_RANK);
  HOLDS(aq_rank_list_compare(a, a) == AQ_LIKENESS_SAME &&
        aq_rank_list_compare(a, b) == AQ_LIKENESS_DIFFERENT);
  aq_rank_list_destroy(a);
  aq_rank_list_destroy(b);
  OK(aq_rank_list_of(NULL, 0, &made));
  check_list(made, NULL, 0);
  aq_rank_list_destroy(NULL);
}

static void check_teams_of_lists(aq_endpoint* ep) {
  const uint32_t me = aq_rank(ep), ranks = aq_ranks(ep);
  aq_team* const world = aq_world(ep);
  const aq_rank_range falling = {ranks - 1, 0, -1};
  aq_rank_list* list = NULL;
  OK(aq_rank_list_of_ranges(&falling, 1, &list));
  aq_team *made = NULL, *part = NULL, *second = NULL;
  OK(aq_team_create_of_list(ep, list, 11, &made));
  HOLDS(aq_team_size(made) == ranks && aq_team_index(made) == ranks - 1 - me);
  HOLDS(aq_team_compare(world, made) == (ranks > 1 ? AQ_LIKENESS_REORDERED : AQ_LIKENESS_SAME));
  OK(aq_team_dup(made, &second));
  HOLDS(aq_team_compare(second, made) == AQ_LIKENESS_SAME);
  OK(aq_team_barrier_value(second, 3));
  OK(aq_team_end(second));
  aq_team_destroy(second);
  uint32_t index = 0;
  OK(aq_team_translate(world, &index, 1, made, &index));
  HOLDS(index == ranks - 1);
  aq_rank_list_destroy(list);

  // A team of rank 0 alone, made by all.
  const uint32_t zero = 0;
  OK(aq_rank_list_of(&zero, 1, &list));
  OK(aq_team_split_list(made, list, &part));
  HOLDS((part != NULL) == (me == 0));
  if (part != NULL) OK(aq_team_barrier(part));
  aq_team_destroy(part);
  aq_rank_list_destroy(list);
  // A stranger, named by all.
  OK(aq_rank_list_of(&ranks, 1, &list));
  const aq_status refused = aq_team_split_list(made, list, &part);
  HOLDS(refused.code == AQ_INVALID_ARGUMENT && refused.peer == ranks);
  FAILS(AQ_OUT_OF_RANGE, aq_team_create_of_list(ep, list, 12, &part));
  aq_rank_list_destroy(list);

  OK(aq_team_rank_list(made, &list));
  HOLDS(aq_rank_list_size(list) == ranks && aq_rank_list_rank_of(list, 0) == ranks - 1);
  aq_rank_list_destroy(list);
  size_t neighbours = 0;
  HOLDS(aq_neighbours(ep, &neighbours) != NULL);
  OK(aq_team_on_my_host(made, &list));
  HOLDS(aq_rank_list_size(list) == neighbours && aq_rank_list_index_of(list, me) != AQ_NO_RANK);
  aq_rank_list_destroy(list);
  OK(aq_team_host_leaders(made, &list));
  HOLDS(aq_rank_list_rank_of(list, 0) == ranks - 1 && aq_rank_list_size(list) <= ranks + 1 - neighbours);
  aq_rank_list_destroy(list);
  OK(aq_team_end(made));
  FAILS(AQ_CLOSED, aq_team_host_leaders(made, &list));
  aq_team_destroy(made);
}

// Each rank writes to the next one's part of the segment, reads it back, and the segment ends.
static void check_segment(aq_endpoint* ep, aq_segment* segment, size_t expected) {
  size_t bytes = 0;
  const unsigned char* const mine = aq_segment_mine(segment, &bytes);
  const uint32_t id = aq_segment_id(segment);
  HOLDS(bytes == expected && aq_segment_members(segment) == aq_ranks(ep));
  HOLDS(aq_segment_rank_of(segment, aq_rank(ep)) == aq_rank(ep));
  HOLDS(aq_base_of(ep, aq_rank(ep), id) == (uint64_t)(uintptr_t)mine);
  unsigned char* const sent = new_pattern(aq_rank(ep), 4096);
  OK(aq_put(ep, aq_at(next_of(ep), id, 0), sent, 4096));
  OK(aq_barrier(ep));
  IS_PATTERN(mine, previous_of(ep), 4096);
  free(sent);
  OK(aq_barrier(ep));
  OK(aq_segment_release(segment));
  FAILS(AQ_CLOSED, aq_put_u64(ep, aq_at(next_of(ep), id, 0), 1));
  FAILS(AQ_CLOSED, aq_segment_release(segment));
  aq_segment_destroy(segment);
}

static void check_segments(aq_endpoint* ep) {
  aq_segment* segment = NULL;
  const size_t bytes = 4096 * (aq_rank(ep) + 1);  // each rank's part has another size
  OK(aq_segment_create(aq_world(ep), bytes, &segment));
  HOLDS(aq_segment_bytes(ep, next_of(ep), aq_segment_id(segment)) == 4096 * (next_of(ep) + 1));
  (void)aq_map_all(ep, aq_segment_id(segment));
  HOLDS(aq_is_mapped(ep, aq_rank(ep), aq_segment_id(segment)));
  check_segment(ep, segment, bytes);

  unsigned char* const memory = calloc(2, 4096);
  HOLDS(memory != NULL);
  OK(aq_segment_attach(aq_world(ep), memory, 8192, &segment));
  check_segment(ep, segment, 8192);
  free(memory);

  aq_segment_memory* part = NULL;
  OK(aq_segment_allocate(ep, 8192, &part));
  size_t allocated = 0;
  void* const at = aq_segment_memory_bytes(part, &allocated);
  HOLDS(at != NULL && allocated == 8192);
  OK(aq_segment_publish(aq_world(ep), part, &segment));
  HOLDS(aq_segment_mine(segment, &allocated) == at);
  check_segment(ep, segment, 8192);

  // Rank 0 has no memory to publish: nobody gets a segment.
  part = NULL;
  if (aq_rank(ep) != 0) OK(aq_segment_allocate(ep, 8192, &part));
  FAILS(AQ_NO_MEMORY, aq_segment_publish(aq_world(ep), part, &segment));
  OK(aq_segment_allocate(ep, 8192, &part));
  aq_segment_memory_free(part);  // not published
  uint64_t rank_bytes = 0, host_bytes = 0;
  aq_segment_most_bytes(ep, &rank_bytes, &host_bytes);
  HOLDS(host_bytes >= rank_bytes);
  aq_segment_destroy(NULL);
  OK(aq_barrier(ep));
}

static void run(aq_endpoint* ep, void* context) {
  (void)context;
  check_signals(ep);
  check_words(ep);
  check_teams(ep);
  check_rank_lists();
  check_teams_of_lists(ep);
  check_segments(ep);
}

int main(void) { return run_job(run); }
