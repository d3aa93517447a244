// Collective operations of all forms and kinds of buffers, beside a model that adds up one element at a time.
#include "tests/c/check.h"

#include <string.h>

typedef struct member {
  aq_endpoint* ep;
  aq_team* team;
  uint32_t me, ranks;
} member;

enum {
  kMostCount = 700,
  kSpace = 70000
};  // a buffer of 4 blocks of that many numbers has room in kSpace bytes
static const uint64_t kCounts[] = {0, 1, 3, 64, kMostCount};
static const size_t kCountsCount = sizeof kCounts / sizeof kCounts[0];

static int64_t input_of(uint32_t of, uint64_t i) { return (int64_t)(of * UINT64_C(1000003) + i * 7 + 1); }
/// What the first `members` members have at `i`, added up.
static int64_t sum_of(uint32_t members, uint64_t i) {
  int64_t sum = 0;
  for (uint32_t of = 0; of < members; ++of) sum += input_of(of, i);
  return sum;
}

/// The buffers of a call: memory of their own, the same places of the segment, or a list of places.
enum { kMine, kOnAll, kEach, kKinds };
typedef struct buffers {
  int64_t *in, *out;
  aq_buffer in_at, out_at;
  aq_ptr in_each[8], out_each[8];
  void* memory;
} buffers;

static void prepare(const member* m, int kind, buffers* b) {
  size_t bytes = 0;
  unsigned char* const segment = aq_my_segment(m->ep, 0, &bytes);
  HOLDS(bytes >= 2 * kSpace && m->ranks <= 8);
  b->memory = NULL;
  if (kind == kMine) {
    b->memory = malloc(2 * kSpace);
    HOLDS(b->memory != NULL);
    b->in = b->memory;
    b->out = b->in + kSpace / 8;
    b->in_at = aq_mine(b->in);
    b->out_at = aq_mine(b->out);
    return;
  }
  // In a list each member has another place.
  const uint64_t shift = kind == kEach ? 64 * (uint64_t)m->me : 0;
  b->in = (int64_t*)(void*)(segment + shift);
  b->out = (int64_t*)(void*)(segment + kSpace + shift);
  for (uint32_t i = 0; i < m->ranks; ++i) {
    b->in_each[i] = aq_at(aq_team_rank_of(m->team, i), 0, 64 * (uint64_t)i);
    b->out_each[i] = aq_at(aq_team_rank_of(m->team, i), 0, kSpace + 64 * (uint64_t)i);
  }
  b->in_at = kind == kEach ? aq_on_each(b->in_each) : aq_on_all(0, 0);
  b->out_at = kind == kEach ? aq_on_each(b->out_each) : aq_on_all(0, kSpace);
}
/// New contents; the input is the first `count` numbers.
static void fill(const member* m, buffers* b, uint64_t count) {
  for (uint64_t i = 0; i < count; ++i) b->in[i] = input_of(m->me, i);
  for (uint64_t i = 0; i <= m->ranks * (uint64_t)kMostCount; ++i) b->out[i] = -1;
}

static void check_number(int64_t found, int64_t expected, uint64_t at, const char* what) {
  if (found == expected) return;
  fprintf(stderr, "%s: number %llu is %lld, not %lld\n", what, (unsigned long long)at, (long long)found,
          (long long)expected);
  exit(1);
}

/// Makes a call in each of its forms: 0 waits, 1 is an event, 2 is a plan, started twice.
enum { kForms = 3 };
#define CALL(form, name, ...)                                         \
  do {                                                                \
    if ((form) == 0) OK(aq_##name(m->team, __VA_ARGS__, options));    \
    if ((form) == 1) {                                                \
      aq_event event = aq_##name##_nb(m->team, __VA_ARGS__, options); \
      DONE(m->ep, event);                                             \
    }                                                                 \
    if ((form) == 2) {                                                \
      aq_plan* plan = NULL;                                           \
      OK(aq_##name##_plan(m->team, __VA_ARGS__, options, &plan));     \
      OK(aq_plan_run(plan));                                          \
      aq_event event = aq_plan_start(plan);                           \
      DONE(m->ep, event);                                             \
      OK(aq_plan_end(plan));                                          \
      aq_plan_destroy(plan);                                          \
    }                                                                 \
  } while (0)

static void check_moves(const member* m, int kind, int form, uint64_t n, uint32_t root,
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

static void check_reductions(const member* m, int kind, int form, uint64_t n, uint32_t root,
                             const aq_coll_options* options) {
  buffers b;
  prepare(m, kind, &b);
  const aq_block block = aq_block_of(AQ_ELEMENT_I64, n);
  const aq_reducer sum = aq_by(AQ_REDUCE_SUM);
  const aq_buffer root_out = m->me == root || kind != kMine ? b.out_at : aq_no_buffer();

  fill(m, &b, n);
  CALL(form, reduce, b.in_at, root_out, block, sum, root);
  for (uint64_t i = 0; i < n; ++i) {
    check_number(b.out[i], m->me == root ? sum_of(m->ranks, i) : -1, i, "reduce");
  }

  fill(m, &b, n);
  CALL(form, all_reduce, b.in_at, b.out_at, block, sum);
  for (uint64_t i = 0; i < n; ++i) check_number(b.out[i], sum_of(m->ranks, i), i, "all_reduce");
  HOLDS(b.out[n] == -1);

  fill(m, &b, n * m->ranks);
  CALL(form, reduce_scatter, b.in_at, b.out_at, block, sum);
  for (uint64_t i = 0; i < n; ++i) {
    check_number(b.out[i], sum_of(m->ranks, m->me * n + i), i, "reduce_scatter");
  }
  HOLDS(b.out[n] == -1);

  fill(m, &b, n);
  CALL(form, scan, b.in_at, b.out_at, block, sum);
  for (uint64_t i = 0; i < n; ++i) check_number(b.out[i], sum_of(m->me + 1, i), i, "scan");

  fill(m, &b, n);
  CALL(form, exscan, b.in_at, b.out_at, block, sum);
  for (uint64_t i = 0; i < n; ++i) check_number(b.out[i], m->me == 0 ? -1 : sum_of(m->me, i), i, "exscan");
  free(b.memory);
}

static void fill_in_place(const member* m, buffers* b, uint64_t first, uint64_t n) {
  fill(m, b, 0);
  for (uint64_t i = 0; i < n; ++i) b->out[first + i] = input_of(m->me, i);
}

static void check_in_place(const member* m, int kind, uint64_t n) {
  buffers b;
  prepare(m, kind, &b);
  const aq_block block = aq_block_of(AQ_ELEMENT_I64, n);
  const aq_reducer sum = aq_by(AQ_REDUCE_SUM);
  const aq_buffer none = aq_no_buffer();
  const uint32_t root = m->ranks - 1;

  fill_in_place(m, &b, 0, n);
  OK(aq_broadcast(m->team, none, b.out_at, block, root, NULL));
  for (uint64_t i = 0; i < n; ++i) check_number(b.out[i], input_of(root, i), i, "broadcast in place");

  fill_in_place(m, &b, m->me * n, n);
  OK(aq_all_gather(m->team, none, b.out_at, block, NULL));
  for (uint64_t i = 0; i < n * m->ranks; ++i) {
    check_number(b.out[i], input_of((uint32_t)(i / n), i % n), i, "all_gather in place");
  }

  fill_in_place(m, &b, 0, n);
  OK(aq_all_reduce(m->team, none, b.out_at, block, sum, NULL));
  for (uint64_t i = 0; i < n; ++i) check_number(b.out[i], sum_of(m->ranks, i), i, "all_reduce in place");

  fill_in_place(m, &b, 0, n);
  OK(aq_scan(m->team, none, b.out_at, block, sum, NULL));
  for (uint64_t i = 0; i < n; ++i) check_number(b.out[i], sum_of(m->me + 1, i), i, "scan in place");

  fill_in_place(m, &b, 0, n);
  OK(aq_exscan(m->team, none, b.out_at, block, sum, NULL));
  for (uint64_t i = 0; i < n; ++i) {
    check_number(b.out[i], m->me == 0 ? input_of(0, i) : sum_of(m->me, i), i, "exscan in place");
  }

  // gather and scatter at the root, by addresses
  if (kind == kMine) {
    fill_in_place(m, &b, m->me == root ? m->me * n : 0, n);
    const aq_buffer own = aq_mine(b.out + (m->me == root ? m->me * n : 0));
    OK(aq_gather(m->team, own, m->me == root ? b.out_at : none, block, root, NULL));
    for (uint64_t i = 0; m->me == root && i < n * m->ranks; ++i) {
      check_number(b.out[i], input_of((uint32_t)(i / n), i % n), i, "gather in place");
    }
    fill(m, &b, n * m->ranks);
    const aq_buffer block_of_root = aq_mine(b.in + m->me * n);
    OK(aq_scatter(m->team, m->me == root ? b.in_at : none, m->me == root ? block_of_root : b.out_at, block,
                  root, NULL));
    const int64_t* const got = m->me == root ? b.in + m->me * n : b.out;
    for (uint64_t i = 0; i < n; ++i)
      check_number(got[i], input_of(root, m->me * n + i), i, "scatter in place");
  }
  free(b.memory);
}

// Products of matrices depend on the order, but not on the grouping.
typedef struct matrix {
  uint64_t at[2][2];
} matrix;
static matrix product_of(const matrix* left, const matrix* right) {
  matrix made;
  for (int i = 0; i < 2; ++i) {
    for (int j = 0; j < 2; ++j) {
      made.at[i][j] = left->at[i][0] * right->at[0][j] + left->at[i][1] * right->at[1][j];
    }
  }
  return made;
}
static void multiply(void* to, const void* left, const void* right, size_t count, void* context) {
  ++*(unsigned*)context;
  for (size_t i = 0; i < count; ++i) {
    matrix a, b;
    memcpy(&a, (const matrix*)left + i, sizeof a);
    memcpy(&b, (const matrix*)right + i, sizeof b);
    const matrix made = product_of(&a, &b);
    memcpy((matrix*)to + i, &made, sizeof made);
  }
}
static matrix matrix_of(uint32_t of, uint64_t i) {
  const matrix made = {{{of + 1, i + 2}, {2 * i + 1, of + 3}}};
  return made;
}
static matrix product_of_first(uint32_t members, uint64_t i) {
  matrix product = matrix_of(0, i);
  for (uint32_t of = 1; of < members; ++of) {
    const matrix next = matrix_of(of, i);
    product = product_of(&product, &next);
  }
  return product;
}

static void check_operators(const member* m, unsigned* combined) {
  enum { kMatrices = 50 };
  const aq_operator wrong[] = {{NULL, NULL, 32, 0, 0}, {multiply, NULL, 0, 0, 0}, {multiply, NULL, 32, 0, 1}};
  for (size_t i = 0; i < 3; ++i) FAILS(AQ_INVALID_ARGUMENT, aq_operator_add(m->ep, 8, &wrong[i]));
  const aq_operator by_matrix = {multiply, combined, sizeof(matrix), 0, 0};
  OK(aq_operator_add(m->ep, 7, &by_matrix));
  OK(aq_operator_add(m->ep, 7, &by_matrix));  // the same again
  OK(aq_barrier(m->ep));
  matrix in[kMatrices], out[kMatrices];
  for (uint64_t i = 0; i < kMatrices; ++i) in[i] = matrix_of(m->me, i);
  const aq_block block = aq_block_of_bytes(kMatrices, sizeof(matrix));
  aq_coll_options options = {AQ_SYNC_ALL, AQ_SYNC_ALL, AQ_ORDER_ANY, 0, 0};
  for (uint32_t order = AQ_ORDER_ANY; order <= AQ_ORDER_EXACT; ++order) {
    options.order = order;
    OK(aq_all_reduce(m->team, aq_mine(in), aq_mine(out), block, aq_by_user(7), &options));
    for (uint64_t i = 0; i < kMatrices; ++i) {
      const matrix expected = product_of_first(m->ranks, i);
      HOLDS(memcmp(&out[i], &expected, sizeof expected) == 0);
    }
    OK(aq_scan(m->team, aq_mine(in), aq_mine(out), block, aq_by_user(7), &options));
    for (uint64_t i = 0; i < kMatrices; ++i) {
      const matrix expected = product_of_first(m->me + 1, i);
      HOLDS(memcmp(&out[i], &expected, sizeof expected) == 0);
    }
  }

  const double mine = m->me % 2 == 0 ? 5 - (double)m->me : 9;
  aq_f64_index least = {mine, (int64_t)m->me}, found = {0, -1};
  OK(aq_all_reduce(m->team, aq_mine(&least), aq_mine(&found), aq_block_of(AQ_ELEMENT_F64_INDEX, 1),
                   aq_by(AQ_REDUCE_MIN_INDEX), NULL));
  const int64_t at = (m->ranks - 1) / 2 * 2;
  HOLDS(found.index == at && found.value == 5 - (double)at);
}

// The sync modes, with what the program must do itself for them.
static void check_modes(const member* m) {
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

// A call that has waited long enough returns, and its operation goes on.
static void check_limit(const member* m) {
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

/// The elements that one member sends to another in check_blocks.
static uint64_t length_of(uint32_t from, uint32_t to) { return (from * 3 + to * 5 + 1) % 4; }

/// Operations whose blocks may differ, and permute. Places are 5 apart, so there are gaps.
static void check_blocks(const member* m, int form, uint32_t root) {
  enum { kApart = 5 };
  const aq_coll_options* const options = NULL;
  int64_t in[8 * kApart], out[8 * kApart];
  uint64_t sends[8], receives[8], same[8], at[8];
  const uint64_t n = length_of(root, m->me);
  for (uint32_t i = 0; i < m->ranks; ++i) {
    sends[i] = length_of(m->me, i);
    receives[i] = length_of(i, m->me);
    same[i] = length_of(i, 0);
    at[i] = (uint64_t)kApart * (m->ranks - 1 - i);
  }
  for (uint64_t i = 0; i < 8 * kApart; ++i) in[i] = input_of(m->me, i);
  const uint64_t my_place = (uint64_t)kApart * (m->ranks - 1 - m->me);

  memset(out, 0xff, sizeof out);
  CALL(form, all_to_all_v, aq_mine(in), aq_blocks_of(sends, at), aq_mine(out), aq_blocks_of(receives, at),
       aq_block_of(AQ_ELEMENT_I64, 0));
  for (uint32_t from = 0; from < m->ranks; ++from) {
    for (uint64_t i = 0; i < kApart; ++i)
      check_number(out[at[from] + i], i < receives[from] ? input_of(from, my_place + i) : -1, i,
                   "all_to_all_v");
  }

  memset(out, 0xff, sizeof out);
  CALL(form, scatter_v, m->me == root ? aq_mine(in) : aq_no_buffer(),
       m->me == root ? aq_blocks_of(sends, at) : aq_no_blocks(), aq_mine(out), aq_block_of(AQ_ELEMENT_I64, n),
       root);
  for (uint64_t i = 0; i < kApart; ++i)
    check_number(out[i], i < n ? input_of(root, my_place + i) : -1, i, "scatter_v");

  memset(out, 0xff, sizeof out);
  CALL(form, gather_v, aq_mine(in), m->me == root ? aq_mine(out) : aq_no_buffer(),
       m->me == root ? aq_blocks_of(same, at) : aq_no_blocks(), aq_block_of(AQ_ELEMENT_I64, same[m->me]),
       root);
  for (uint32_t from = 0; from < m->ranks; ++from) {
    for (uint64_t i = 0; i < kApart; ++i)
      check_number(out[at[from] + i], m->me == root && i < same[from] ? input_of(from, i) : -1, i,
                   "gather_v");
  }

  memset(out, 0xff, sizeof out);
  CALL(form, all_gather_v, aq_mine(in), aq_mine(out), aq_blocks_of(same, NULL),
       aq_block_of(AQ_ELEMENT_I64, same[m->me]));
  uint64_t next = 0;
  for (uint32_t from = 0; from < m->ranks; ++from) {
    for (uint64_t i = 0; i < same[from]; ++i) check_number(out[next++], input_of(from, i), i, "all_gather_v");
  }
  HOLDS(out[next] == -1);

  memset(out, 0xff, sizeof out);
  const uint32_t to = (m->me + root) % m->ranks, from = (m->me + m->ranks - root) % m->ranks;
  CALL(form, permute, aq_mine(in), aq_mine(out), aq_block_of(AQ_ELEMENT_I64, 6), to,
       root % 2 == 0 ? AQ_ANY_SOURCE : from);
  for (uint64_t i = 0; i < 7; ++i) check_number(out[i], i < 6 ? input_of(from, i) : -1, i, "permute");
}
// The ends of a block disagree: all members are told, and the team goes on.
static void check_blocks_that_differ(const member* m) {
  if (m->ranks < 2) return;
  int64_t in[8] = {0}, out[8] = {0};
  uint64_t counts[8];
  for (uint32_t i = 0; i < m->ranks; ++i) counts[i] = 1;
  if (m->me == 1) counts[0] = 0;
  FAILS(AQ_MISMATCH, aq_all_gather_v(m->team, aq_mine(in), aq_mine(out), aq_blocks_of(counts, NULL),
                                     aq_block_of(AQ_ELEMENT_I64, 1), NULL));
  FAILS(AQ_INVALID_ARGUMENT, aq_all_gather_v(m->team, aq_mine(in), aq_mine(out), aq_no_blocks(),
                                             aq_block_of(AQ_ELEMENT_I64, 1), NULL));
}

static void count_work(void* context) { ++*(int*)context; }

static void check_tune(const member* m) {
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
}

static void check_explain(const member* m) {
  char text[4000], cut[8];
  const aq_block block = aq_block_of(AQ_ELEMENT_F64, 100);
  const size_t length = aq_team_explain(m->team, AQ_COLL_ALL_REDUCE, block, NULL, text, sizeof text);
  HOLDS(length > 0 && strlen(text) == (length < sizeof text ? length : sizeof text - 1));
  HOLDS(aq_team_explain(m->team, AQ_COLL_ALL_REDUCE, block, NULL, cut, sizeof cut) == length);
  HOLDS(strlen(cut) == 7 && memcmp(text, cut, 7) == 0);
  HOLDS(aq_team_explain(m->team, AQ_COLL_ALL_REDUCE, block, NULL, NULL, 0) == length);
  HOLDS(aq_team_explain(m->team, -1, block, NULL, text, sizeof text) > 0);
}

// All members make the same wrong call. The team cannot be used afterwards, so it is one of its own.
static void check_refusals(aq_endpoint* ep) {
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
  OK(aq_all_reduce(team, aq_mine(&mine), aq_mine(&sum), aq_block_of(AQ_ELEMENT_I64, 1),
                   aq_by(AQ_REDUCE_SUM), NULL));
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
