#pragma once

// The checks of tests/c/collectives.c, one file for each kind of call, and what they share.

#include "tests/c/check.h"

typedef struct member {
  aq_endpoint* ep;
  aq_team* team;
  uint32_t me, ranks;
} member;

/// A buffer of 4 blocks of kMostCount numbers has room in kSpace bytes.
enum { kMostCount = 700, kSpace = 70000 };

/// What a member has at `i`.
int64_t input_of(uint32_t of, uint64_t i);
/// What the first `members` members have at `i`, added up.
int64_t sum_of(uint32_t members, uint64_t i);
void check_number(int64_t found, int64_t expected, uint64_t at, const char* what);

/// The buffers of a call: memory of their own, the same places of the segment, or a list of places.
enum { kMine, kOnAll, kEach, kKinds };
typedef struct buffers {
  int64_t *in, *out;
  aq_buffer in_at, out_at;
  aq_ptr in_each[8], out_each[8];
  void* memory;
} buffers;

void prepare(const member* m, int kind, buffers* b);
/// New contents; the input is the first `count` numbers.
void fill(const member* m, buffers* b, uint64_t count);

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

/// `kind` is that of the buffers, `form` that of the call. `n`: numbers in a block.
void check_moves(const member* m, int kind, int form, uint64_t n, uint32_t root,
                 const aq_coll_options* options);
void check_reductions(const member* m, int kind, int form, uint64_t n, uint32_t root,
                      const aq_coll_options* options);
void check_in_place(const member* m, int kind, uint64_t n);
/// Operations whose blocks may differ, and permute. Places are 5 apart, so there are gaps.
void check_blocks(const member* m, int form, uint32_t root);
/// The ends of a block disagree: all members are told, and the team goes on.
void check_blocks_that_differ(const member* m);
/// `combined`: the context of the operator, which counts there.
void check_operators(const member* m, unsigned* combined);
/// The sync modes, with what the program must do itself for them.
void check_modes(const member* m);
/// A call that has waited long enough returns, and its operation goes on.
void check_limit(const member* m);
void check_tune(const member* m);
void check_explain(const member* m);
/// All members make the same wrong call. The team cannot be used afterwards, so it is one of its own.
void check_refusals(aq_endpoint* ep);
