// Wrong arguments: each call says so, and the job goes on.
#include "tests/c/check.h"

static void ignore(void* context, const aq_incoming* incoming) { (void)context, (void)incoming; }

static void check_places(aq_endpoint* ep) {
  uint64_t word = 0;
  const uint64_t bytes = aq_segment_bytes(ep, next_of(ep), 0);
  const aq_ptr no_rank = aq_at(aq_ranks(ep), 0, 0), beyond = aq_at(next_of(ep), 0, bytes - 7),
               no_segment = aq_at(next_of(ep), 12345, 0), far_beyond = aq_at(next_of(ep), 0, UINT64_MAX);
  const aq_ptr wrong[] = {no_rank, beyond, far_beyond};
  for (size_t i = 0; i < 3; ++i) {
    FAILS(AQ_OUT_OF_RANGE, aq_put(ep, wrong[i], &word, 8));
    FAILS(AQ_OUT_OF_RANGE, aq_get(ep, &word, wrong[i], 8));
    FAILS(AQ_OUT_OF_RANGE, aq_put_u64(ep, wrong[i], 1));
    FAILS(AQ_OUT_OF_RANGE, aq_get_u64(ep, wrong[i], &word));
    FAILS(AQ_OUT_OF_RANGE, aq_put_nbi(ep, wrong[i], &word, 8, NULL));
    FAILS(AQ_OUT_OF_RANGE, aq_put_u128(ep, wrong[i], &(const uint64_t[2]){1, 2}[0]));
    FAILS(AQ_OUT_OF_RANGE, aq_put_signal(ep, wrong[i], &word, 8, 0, 1));
    aq_event event = aq_put_nb(ep, wrong[i], &word, 8, NULL);
    HOLDS(aq_done(&event));
    FAILS(AQ_OUT_OF_RANGE, aq_wait(ep, &event));
    FAILS(AQ_OUT_OF_RANGE, aq_wait(ep, &event));  // the outcome stays
    HOLDS(aq_local(ep, wrong[i], 8) == NULL && aq_mapped(ep, wrong[i], 8) == NULL);
  }
  HOLDS(!aq_ok(aq_put(ep, no_segment, &word, 8)));
  FAILS(AQ_MISALIGNED, aq_add_u64(ep, aq_at(next_of(ep), 0, 4), 1));
  FAILS(AQ_MISALIGNED, aq_wait_on_u32(ep, aq_at(aq_rank(ep), 0, 2), AQ_EQUAL, 0, 0, AQ_NO_RANK));
  FAILS(AQ_OUT_OF_RANGE, aq_signal(ep, aq_ranks(ep), 0, 1));
  FAILS(AQ_OUT_OF_RANGE, aq_signal(ep, next_of(ep), UINT32_MAX, 1));
  FAILS(AQ_OUT_OF_RANGE, aq_fence(ep, aq_ranks(ep)));
  HOLDS(aq_segment_bytes(ep, aq_ranks(ep), 0) == 0 && aq_host_of(ep, aq_ranks(ep)) == AQ_NO_RANK);
  HOLDS(!aq_shares_processors(ep, aq_ranks(ep)));
}

// A null pointer to bytes. What is mapped and short, only checked builds refuse.
static void check_null(aq_endpoint* ep) {
  const aq_ptr at = aq_at(next_of(ep), 0, 0);
  void* volatile nowhere = NULL;  // so that the compiler does not warn
#ifdef AQUEDUCT_CHECKED
  const size_t least = 1;
#else
  const size_t least = AQ_INLINE_BYTES + 1;
#endif
  OK(aq_put(ep, at, nowhere, 0));
  OK(aq_get(ep, nowhere, at, 0));
  const size_t sizes[] = {least, 4096};
  for (size_t i = 0; i < 2; ++i) {
    const size_t bytes = sizes[i];
    FAILS(AQ_INVALID_ARGUMENT, aq_put(ep, at, nowhere, bytes));
    FAILS(AQ_INVALID_ARGUMENT, aq_get(ep, nowhere, at, bytes));
    FAILS(AQ_INVALID_ARGUMENT, aq_put_nbi(ep, at, nowhere, bytes, NULL));
    FAILS(AQ_INVALID_ARGUMENT, aq_get_nbi(ep, nowhere, at, bytes, NULL));
    aq_event put = aq_put_nb(ep, at, nowhere, bytes, NULL);
    FAILS(AQ_INVALID_ARGUMENT, aq_wait(ep, &put));
    aq_event get = aq_get_nb(ep, nowhere, at, bytes, NULL);
    FAILS(AQ_INVALID_ARGUMENT, aq_wait(ep, &get));
  }
}

// Values, payloads and pieces: refused in every build.
static void check_more_null(aq_endpoint* ep) {
  const aq_ptr at = aq_at(next_of(ep), 0, 0);
  void* volatile nowhere = NULL;
  FAILS(AQ_INVALID_ARGUMENT, aq_put_u128(ep, at, nowhere));
  FAILS(AQ_INVALID_ARGUMENT, aq_get_u128(ep, at, nowhere));
#ifdef AQUEDUCT_CHECKED
  FAILS(AQ_INVALID_ARGUMENT, aq_get_u64(ep, at, nowhere));
#endif
  uint16_t medium = 0, large = 0;
  OK(aq_register(ep, AQ_MEDIUM_REQUEST, 0, ignore, NULL, &medium));
  OK(aq_register(ep, AQ_LONG_REQUEST, 0, ignore, NULL, &large));
  const aq_call to_medium = {NULL, 0, medium, 0, 0, 0}, to_long = {NULL, 0, large, 0, 0, 0};
  FAILS(AQ_INVALID_ARGUMENT, aq_request_medium(ep, next_of(ep), &to_medium, nowhere, 8, NULL));
  FAILS(AQ_INVALID_ARGUMENT, aq_request_long(ep, at, &to_long, nowhere, 8, NULL));
  const aq_shape whole = {AQ_CONTIGUOUS, 0, 32, NULL, 0};
  FAILS(AQ_INVALID_ARGUMENT, aq_put_pieces(ep, at, &whole, nowhere, &whole));
  FAILS(AQ_INVALID_ARGUMENT, aq_get_pieces(ep, nowhere, &whole, at, &whole));
  // By rank: of the second owner's elements none is the first of the list.
  const aq_ptr places[] = {aq_at(aq_ranks(ep) - 1, 0, 0), aq_at(0, 0, 8), aq_at(aq_ranks(ep) - 1, 0, 16)};
  FAILS(AQ_INVALID_ARGUMENT, aq_get_elements(ep, nowhere, places, 3, 8));
  FAILS(AQ_INVALID_ARGUMENT, aq_put_elements(ep, places, nowhere, 3, 8));
  OK(aq_get_elements(ep, nowhere, places, 0, 8));
  OK(aq_barrier(ep));  // no message of nothing has arrived at a rank without its handler
}

static void check_options(aq_endpoint* ep) {
  const uint64_t word = 1;
  const aq_ptr at = aq_at(next_of(ep), 0, 0);
  uint32_t in_flight = 0;
  aq_event source = {&in_flight};  // the call must set it, whatever happens
  const aq_options unknown = {1u << 31, 0, &source, NULL}, reserved = {0, 1, NULL, NULL},
                   both = {AQ_SOURCE_AT_RETURN | AQ_SOURCE_ON_EVENT, 0, NULL, NULL};
  const aq_options* const wrong[] = {&unknown, &reserved, &both};
  for (size_t i = 0; i < 3; ++i) {
    aq_event event = aq_put_nb(ep, at, &word, 8, wrong[i]);
    FAILS(AQ_INVALID_ARGUMENT, aq_wait(ep, &event));
    FAILS(AQ_INVALID_ARGUMENT, aq_put_nbi(ep, at, &word, 8, wrong[i]));
    FAILS(AQ_INVALID_ARGUMENT, aq_atomic_nbi(ep, AQ_ADD, AQ_U64, at, &word, NULL, NULL, wrong[i]));
    FAILS(AQ_INVALID_ARGUMENT, aq_put_signal_nbi(ep, at, &word, 8, 0, 1, wrong[i]));
  }
  HOLDS(aq_done(&source));
}

static void check_numbers(aq_endpoint* ep) {
  const uint64_t word = 1;
  uint64_t old = 0;
  uint16_t id = 0;
  size_t index = 0;
  const aq_ptr at = aq_at(next_of(ep), 0, 0), here = aq_at(aq_rank(ep), 0, 0);
  FAILS(AQ_INVALID_ARGUMENT, aq_atomic(ep, 11, AQ_U64, at, &word, NULL, &old));
  FAILS(AQ_INVALID_ARGUMENT, aq_atomic(ep, AQ_ADD, 6, at, &word, NULL, &old));
  FAILS(AQ_INVALID_ARGUMENT, aq_atomic(ep, AQ_ADD, AQ_U64, at, NULL, NULL, &old));
  FAILS(AQ_INVALID_ARGUMENT, aq_atomic(ep, AQ_COMPARE_SWAP, AQ_U64, at, &word, NULL, &old));
  FAILS(AQ_INVALID_ARGUMENT, aq_atomic(ep, AQ_XOR, AQ_F64, at, &word, NULL, &old));  // floats have none
  aq_domain domain;
  FAILS(AQ_INVALID_ARGUMENT, aq_domain_create(ep, 1u << 20, AQ_U64, AQ_FAVOUR_NEAR, &domain));
  FAILS(AQ_INVALID_ARGUMENT, aq_domain_create(ep, 1, 9, AQ_FAVOUR_NEAR, &domain));
  for (int op = AQ_AND; op <= AQ_XOR; ++op) {  // floats have none of them
    FAILS(AQ_INVALID_ARGUMENT,
          aq_domain_create(ep, 1u << AQ_LOAD | 1u << op, AQ_F32, AQ_FAVOUR_NEAR, &domain));
    FAILS(AQ_INVALID_ARGUMENT, aq_domain_create(ep, 1u << op, AQ_F64, AQ_FAVOUR_REMOTE, &domain));
    OK(aq_domain_create(ep, 1u << op, AQ_I32, AQ_FAVOUR_NEAR, &domain));
  }
  OK(aq_domain_create(ep, (1u << AQ_ADD) | (1u << AQ_MULTIPLY), AQ_F64, AQ_FAVOUR_NEAR, &domain));
  FAILS(AQ_INVALID_ARGUMENT, aq_wait_on_u64(ep, here, 6, 0, 0, AQ_NO_RANK));
  FAILS(AQ_INVALID_ARGUMENT, aq_wait_until(ep, NULL, NULL, 0, AQ_NO_RANK));
  FAILS(AQ_INVALID_ARGUMENT, aq_put_signal_word(ep, at, &word, 8, at, 1, 2));
  FAILS(AQ_INVALID_ARGUMENT, aq_wait_any(ep, NULL, 0, 0, &index));
  aq_event event = aq_finished_event();
  FAILS(AQ_INVALID_ARGUMENT, aq_then(ep, &event, NULL, NULL));

  FAILS(AQ_INVALID_ARGUMENT, aq_register(ep, AQ_SHORT_REQUEST, 0, NULL, NULL, &id));
  FAILS(AQ_INVALID_ARGUMENT, aq_register(ep, 6, 0, ignore, NULL, &id));
  FAILS(AQ_TOO_LARGE, aq_register(ep, AQ_SHORT_REQUEST, 17, ignore, NULL, &id));
  const aq_call no_handler = {NULL, 0, 9999, 0, 0, 0};
  FAILS(AQ_WRONG_HANDLER, aq_request_short(ep, next_of(ep), &no_handler, NULL));
  aq_space space;
  FAILS(AQ_INVALID_ARGUMENT, aq_space_create(ep, "", &space));
  FAILS(AQ_INVALID_ARGUMENT, aq_space_create(ep, NULL, &space));
  OK(aq_space_create(ep, "wrong", &space));
  FAILS(AQ_INVALID_ARGUMENT, aq_space_create(ep, "wrong", &space));
  FAILS(AQ_INVALID_ARGUMENT, aq_space_add(&space, 0, NULL, NULL, NULL));
  FAILS(AQ_INVALID_ARGUMENT, aq_space_remove(&space, 0));
  const uint32_t words[17] = {0};
  const aq_call many = {words, 17, 0, 0, 0, 0};
  FAILS(AQ_TOO_LARGE, aq_raw_request_short(&space, next_of(ep), &many, NULL));
  aq_prepared none = {{0}};
  FAILS(AQ_INVALID_ARGUMENT, aq_commit(&none, &no_handler, 0, NULL));
  FAILS(AQ_INVALID_ARGUMENT, aq_prepared_place(&none, at));
  aq_cancel(&none);
  const aq_bounds reversed = {10, 5, NULL, 0};
  FAILS(AQ_INVALID_ARGUMENT, aq_prepare_medium(ep, next_of(ep), &reversed, NULL, &none));
  HOLDS(aq_prepared_size(&none) == 0);
}

static void check_shapes(aq_endpoint* ep) {
  uint64_t words[4] = {0};
  const aq_dimension two = {2, 8};
  const aq_ptr at = aq_at(next_of(ep), 0, 0);
  const aq_shape whole = {AQ_CONTIGUOUS, 0, 32, NULL, 0}, unknown = {4, 0, 32, NULL, 0},
                 reserved = {AQ_CONTIGUOUS, 1, 32, NULL, 0}, shorter = {AQ_STRIDED, 0, 8, &two, 1};
  FAILS(AQ_INVALID_ARGUMENT, aq_put_pieces(ep, at, &unknown, words, &whole));
  FAILS(AQ_INVALID_ARGUMENT, aq_put_pieces(ep, at, &whole, words, &unknown));
  FAILS(AQ_INVALID_ARGUMENT, aq_get_pieces(ep, words, &reserved, at, &whole));
  FAILS(AQ_INVALID_ARGUMENT, aq_get_pieces(ep, words, &shorter, at, &whole));  // the sums differ
  FAILS(AQ_INVALID_ARGUMENT, aq_accumulate_nbi(ep, AQ_U32, at, &shorter, words, &shorter));  // 4, not 8 bytes
  FAILS(AQ_INVALID_ARGUMENT, aq_accumulate_nbi(ep, 7, at, &shorter, words, &shorter));
  FAILS(AQ_OUT_OF_RANGE, aq_put_pieces(ep, aq_at(aq_ranks(ep), 0, 0), &whole, words, &whole));
  // A list that is not there; without entries it need not be.
  for (uint32_t kind = AQ_VECTOR; kind <= AQ_STRIDED; ++kind) {
    const aq_shape missing = {kind, 0, 8, NULL, 4}, empty = {kind, 0, 8, NULL, 0};
    const aq_shape nothing = {AQ_CONTIGUOUS, 0, kind == AQ_STRIDED ? 8 : 0, NULL, 0};
    FAILS(AQ_INVALID_ARGUMENT, aq_put_pieces(ep, at, &missing, words, &whole));
    FAILS(AQ_INVALID_ARGUMENT, aq_get_pieces(ep, words, &missing, at, &whole));
    OK(aq_put_pieces(ep, at, &empty, words, &nothing));
  }
  const aq_shape missing = {AQ_STRIDED, 0, 8, NULL, 17};
  FAILS(AQ_INVALID_ARGUMENT, aq_accumulate_nbi(ep, AQ_U64, at, &missing, words, &missing));
  FAILS(AQ_INVALID_ARGUMENT, aq_get_elements(ep, words, NULL, 2, 8));
  FAILS(AQ_INVALID_ARGUMENT, aq_put_elements(ep, NULL, words, 2, 8));
  OK(aq_get_elements(ep, words, NULL, 0, 8));
  const aq_ptr same[] = {at, at};
  OK(aq_get_elements(ep, NULL, same, 2, 0));  // two elements without bytes
}

static void check_memory_that_cannot_be(aq_endpoint* ep) {
  aq_segment* segment = NULL;
  FAILS(AQ_INVALID_ARGUMENT, aq_segment_attach(aq_world(ep), NULL, 64, &segment));
  FAILS(AQ_INVALID_ARGUMENT, aq_segment_attach(aq_world(ep), (void*)(UINTPTR_MAX - 50), 100, &segment));
  FAILS(AQ_INVALID_ARGUMENT, aq_segment_attach(aq_world(ep), &segment, (size_t)1 << 63, &segment));
  // What one member cannot give, none gets.
  void* const mine = aq_rank(ep) == 0 ? NULL : (void*)&segment;
  FAILS(AQ_INVALID_ARGUMENT, aq_segment_attach(aq_world(ep), mine, sizeof segment, &segment));
  OK(aq_segment_attach(aq_world(ep), NULL, 0, &segment));
  OK(aq_segment_release(segment));
  aq_segment_destroy(segment);
}

static void check_missing_texts(aq_endpoint* ep) {
  aq_config* const config = aq_config_create();
  int64_t number = 0;
  FAILS(AQ_BAD_SETTING, aq_config_set(config, NULL, "1"));
  FAILS(AQ_BAD_SETTING, aq_config_set(config, "operations", NULL));
  FAILS(AQ_BAD_SETTING, aq_config_number(config, NULL, &number));
  HOLDS(aq_config_text(config, NULL, NULL, 0) == 0);
  aq_config_destroy(config);
  HOLDS(aq_statistic_value(ep, NULL) == 0);
}

static void check_rank_lists(void) {
  const uint32_t twice[] = {3, 5, 3}, no_rank[] = {0, AQ_NO_RANK}, three[] = {4, 5, 6};
  const aq_rank_range still = {0, 5, 0}, away = {0, 5, -1}, beyond = {0, 3, 1};
  aq_rank_list *list = NULL, *made = NULL;
  FAILS(AQ_INVALID_ARGUMENT, aq_rank_list_of(twice, 3, &list));
  FAILS(AQ_OUT_OF_RANGE, aq_rank_list_of(no_rank, 2, &list));
  FAILS(AQ_INVALID_ARGUMENT, aq_rank_list_of(NULL, 2, &list));
  FAILS(AQ_INVALID_ARGUMENT, aq_rank_list_of_ranges(NULL, 2, &list));
  FAILS(AQ_INVALID_ARGUMENT, aq_rank_list_of_ranges(&still, 1, &list));
  FAILS(AQ_INVALID_ARGUMENT, aq_rank_list_of_ranges(&away, 1, &list));
  HOLDS(list == NULL);
  OK(aq_rank_list_of(three, 3, &list));
  FAILS(AQ_OUT_OF_RANGE, aq_rank_list_include(list, twice, 3, &made));
  FAILS(AQ_OUT_OF_RANGE, aq_rank_list_exclude(list, no_rank, 2, &made));
  FAILS(AQ_OUT_OF_RANGE, aq_rank_list_include_ranges(list, &beyond, 1, &made));
  FAILS(AQ_INVALID_ARGUMENT, aq_rank_list_exclude_ranges(list, &away, 1, &made));
  FAILS(AQ_INVALID_ARGUMENT, aq_rank_list_include(list, NULL, 1, &made));
  FAILS(AQ_INVALID_ARGUMENT, aq_rank_list_exclude(list, NULL, 1, &made));
  FAILS(AQ_INVALID_ARGUMENT, aq_rank_list_include_ranges(list, NULL, 1, &made));
  FAILS(AQ_INVALID_ARGUMENT, aq_rank_list_exclude_ranges(list, NULL, 1, &made));
  uint32_t into[3] = {9, 9, 9};
  FAILS(AQ_OUT_OF_RANGE, aq_rank_list_translate(list, twice, 3, list, into));
  FAILS(AQ_INVALID_ARGUMENT, aq_rank_list_translate(list, NULL, 3, list, into));
  FAILS(AQ_INVALID_ARGUMENT, aq_rank_list_translate(list, three, 3, list, NULL));
  HOLDS(made == NULL && into[0] == 9);
  aq_rank_list_destroy(list);
}

// A plan that could not be bound, and no operator.
static void check_no_plan(aq_endpoint* ep) {
  aq_event start = aq_plan_start(NULL);
  FAILS(AQ_INVALID_ARGUMENT, aq_wait(ep, &start));
  FAILS(AQ_INVALID_ARGUMENT, aq_plan_run(NULL));
  FAILS(AQ_INVALID_ARGUMENT, aq_plan_end(NULL));
  FAILS(AQ_INVALID_ARGUMENT, aq_operator_add(ep, 1, NULL));
}

static void run(aq_endpoint* ep, void* context) {
  (void)context;
  check_no_plan(ep);
  check_places(ep);
  check_null(ep);
  check_more_null(ep);
  check_options(ep);
  check_numbers(ep);
  check_shapes(ep);
  check_memory_that_cannot_be(ep);
  check_missing_texts(ep);
  check_rank_lists();
  aq_team* made = NULL;
  FAILS(AQ_INVALID_ARGUMENT,
        aq_team_split(aq_world(ep), -1, 0, &made));  // on every rank, so that nobody waits
  FAILS(AQ_INVALID_ARGUMENT, aq_team_create(ep, NULL, 0, 1, &made));
  FAILS(AQ_INVALID_ARGUMENT, aq_team_create(ep, NULL, 2, 1, &made));
  FAILS(AQ_INVALID_ARGUMENT, aq_team_end(aq_world(ep)));
  OK(aq_barrier(ep));
}

int main(void) { return run_job(run); }
