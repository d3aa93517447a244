// Handlers that answer with null for each argument in turn; the right answer after these is the only one that arrives.
#include "tests/c/nulls/nulls.h"

#define REFUSED(call) FAILS(AQ_INVALID_ARGUMENT, call)

typedef struct {
  uint16_t short_reply, medium_reply;
  int asked;
  int answered;
} replies;

static const aq_bounds kBounds = {0, 8, NULL, 0};

/// What every form refuses. The message can still be answered afterwards.
static void refuse_all(const replies* mine, const aq_incoming* incoming) {
  const aq_ptr at = aq_at(incoming->source, 0, 0);
  const uint64_t word = 0;
  aq_prepared prepared;
  REFUSED(aq_reply_short(incoming, NO(aq_call)));
  REFUSED(aq_reply_medium(incoming, NO(aq_call), &word, 8));
  REFUSED(aq_reply_long(incoming, NO(aq_call), &word, 8, at));
  REFUSED(aq_prepare_reply_medium(incoming, NO(aq_bounds), &prepared));
  REFUSED(aq_prepare_reply_medium(incoming, &kBounds, NO(aq_prepared)));
  REFUSED(aq_prepare_reply_long(incoming, at, NO(aq_bounds), &prepared));
  REFUSED(aq_prepare_reply_long(incoming, at, &kBounds, NO(aq_prepared)));
  REFUSED(aq_prepare_reply_long_anywhere(incoming, NO(aq_bounds), &prepared));
  REFUSED(aq_prepare_reply_long_anywhere(incoming, &kBounds, NO(aq_prepared)));
  const aq_call of_no_words = {NULL, 2, 0, 0, 0, 0};  // two words, and none there
  REFUSED(aq_reply_short(incoming, &of_no_words));
  const aq_call call = {NULL, 0, mine->medium_reply, 0, 2, 0};
  REFUSED(aq_reply_medium(incoming, &call, NULL, 8));

  OK(aq_prepare_reply_medium(incoming, &kBounds, &prepared));
  REFUSED(aq_commit(&prepared, NO(aq_call), 0, NULL));
  REFUSED(aq_commit_raw(&prepared, NO(aq_space), NO(aq_call), 0, NULL));
  REFUSED(aq_commit(NO(aq_prepared), &call, 0, NULL));
  aq_cancel(&prepared);
}

static void on_request(void* context, const aq_incoming* incoming) {
  replies* const mine = context;
  refuse_all(mine, incoming);
  const aq_call call = {NULL, 0, mine->short_reply, 0, 0, 0};
  OK(aq_reply_short(incoming, &call));
  ++mine->asked;
}
static void on_raw_request(void* context, const aq_incoming* incoming) {
  replies* const mine = context;
  refuse_all(mine, incoming);
  const aq_call call = {NULL, 0, 0, 0, 2, 0};
  OK(aq_reply_short(incoming, &call));
  ++mine->asked;
}
static void on_reply(void* context, const aq_incoming* incoming) {
  replies* const mine = context;
  const aq_call call = {NULL, 0, mine->short_reply, 0, 0, 0};
  REFUSED(aq_reply_short(incoming, &call));  // a reply has no answer
  ++mine->answered;
}
static bool all_are_over(void* context) {
  const replies* const mine = context;
  return mine->asked >= 2 && mine->answered >= 2;
}

void check_null_in_replies(aq_endpoint* ep) {
  replies mine = {0, 0, 0, 0};
  uint16_t request = 0;
  OK(aq_register(ep, AQ_SHORT_REQUEST, 0, on_request, &mine, &request));
  OK(aq_register(ep, AQ_SHORT_REPLY, 0, on_reply, &mine, &mine.short_reply));
  OK(aq_register(ep, AQ_MEDIUM_REPLY, 0, on_reply, &mine, &mine.medium_reply));
  aq_space space;
  OK(aq_space_create(ep, "replies", &space));
  OK(aq_space_add(&space, 1, on_raw_request, &mine, NULL));
  OK(aq_space_add(&space, 2, on_reply, &mine, NULL));
  OK(aq_barrier(ep));
  const aq_call call = {NULL, 0, request, 0, 1, 0};
  OK(aq_request_short(ep, next_of(ep), &call, NULL));
  OK(aq_raw_request_short(&space, next_of(ep), &call, NULL));
  OK(aq_wait_until(ep, all_are_over, &mine, 30 * SECOND, AQ_ANY_RANK));
  HOLDS(mine.asked == 2 && mine.answered == 2);
  OK(aq_barrier(ep));
}
