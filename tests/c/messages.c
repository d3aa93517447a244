// Active messages: plain and raw, short, medium and long, with replies and negotiated payloads.
#include "tests/c/check.h"

#include <string.h>

enum { kBytes = 500 };

/// What one rank's handlers have seen, and the handlers' numbers.
typedef struct Seen {
  aq_endpoint* ep;
  uint16_t ask[3], answer[3];  // plain handlers: short, medium, long
  int requests, replies;
  bool negotiates;  // the handler of a medium request prepares its reply
} Seen;

static bool all_answered(void* context) {
  const Seen* const seen = context;
  return seen->requests == 3 && seen->replies == 3;
}

/// The checks that all messages share: two words, the second one is the source's number; a payload by kind.
static void look(const Seen* seen, const aq_incoming* incoming) {
  HOLDS(incoming->count == 2 && incoming->words[0] == 17 && incoming->words[1] == incoming->source);
  HOLDS(aq_in_handler(seen->ep));
  FAILS(AQ_IN_HANDLER, aq_barrier(seen->ep));
  if (incoming->category == AQ_SHORT_REQUEST || incoming->category == AQ_SHORT_REPLY) {
    HOLDS(incoming->bytes == 0);
  } else {
    HOLDS(incoming->bytes == kBytes);
    IS_PATTERN(incoming->payload, incoming->source, kBytes);
  }
}

static void on_request(void* context, const aq_incoming* incoming) {
  Seen* const seen = context;
  look(seen, incoming);
  ++seen->requests;
  const uint32_t words[2] = {17, aq_rank(seen->ep)};
  const int kind = incoming->category;
  aq_call call = {words, 2, seen->answer[kind], 0xbeef, 200, 0};
  unsigned char* const payload = new_pattern(aq_rank(seen->ep), kBytes);
  if (incoming->is_raw) HOLDS(incoming->number == 100 && incoming->tag == 0xcafe);
  if (kind == AQ_SHORT_REQUEST) {
    OK(aq_reply_short(incoming, &call));
    FAILS(AQ_INVALID_ARGUMENT, aq_reply_short(incoming, &call));  // a second reply
  } else if (kind == AQ_MEDIUM_REQUEST && seen->negotiates) {
    const aq_bounds bounds = {kBytes, kBytes, NULL, 0};
    aq_prepared prepared;
    OK(aq_prepare_reply_medium(incoming, &bounds, &prepared));
    HOLDS(aq_prepared_size(&prepared) == kBytes);
    memcpy(aq_prepared_buffer(&prepared), payload, kBytes);
    if (incoming->is_raw) {
      FAILS(AQ_WRONG_HANDLER, aq_commit(&prepared, &call, kBytes, NULL));
      HOLDS(aq_prepared_size(&prepared) == kBytes);  // the room remains
      OK(aq_commit_raw(&prepared, NULL, &call, kBytes, NULL));
    } else {
      FAILS(AQ_WRONG_HANDLER, aq_commit_raw(&prepared, NULL, &call, kBytes, NULL));
      OK(aq_commit(&prepared, &call, kBytes, NULL));
    }
    HOLDS(aq_prepared_size(&prepared) == 0 && aq_prepared_buffer(&prepared) == NULL);
  } else if (kind == AQ_MEDIUM_REQUEST) {
    OK(aq_reply_medium(incoming, &call, payload, kBytes));
  } else {
    OK(aq_reply_long(incoming, &call, payload, kBytes, aq_at(incoming->source, 0, 4096)));
  }
  free(payload);
}

static void on_reply(void* context, const aq_incoming* incoming) {
  Seen* const seen = context;
  look(seen, incoming);
  ++seen->replies;
  if (incoming->is_raw) HOLDS(incoming->number == 200 && incoming->tag == 0xbeef);
  const aq_call call = {NULL, 0, 0, 0, 0, 0};
  FAILS(AQ_INVALID_ARGUMENT, aq_reply_short(incoming, &call));  // a reply cannot be replied to
}

static void wait_for_all(aq_endpoint* ep, Seen* seen) {
  OK(aq_wait_until(ep, all_answered, seen, 30 * SECOND, AQ_ANY_RANK));
  OK(aq_barrier(ep));
  seen->requests = seen->replies = 0;
  OK(aq_barrier(ep));
}

static void check_plain(aq_endpoint* ep, Seen* seen) {
  const uint32_t words[2] = {17, aq_rank(ep)}, to = next_of(ep);
  unsigned char* const payload = new_pattern(aq_rank(ep), kBytes);
  const aq_am_limits limits = aq_am_limits_of(ep, to);
  HOLDS(limits.arguments == 64 && limits.medium >= kBytes && limits.long_reply >= kBytes);
  aq_call call = {words, 2, seen->ask[0], 0, 0, 0};
  OK(aq_request_short(ep, to, &call, NULL));
  call.handler = seen->ask[1];
  aq_event source;
  const aq_options options = {0, 0, &source, NULL};
  OK(aq_request_medium(ep, to, &call, payload, kBytes, &options));
  DONE(ep, source);
  call.handler = seen->ask[2];
  OK(aq_request_long(ep, aq_at(to, 0, 0), &call, payload, kBytes, NULL));
  wait_for_all(ep, seen);
  call.handler = seen->ask[1];
  FAILS(AQ_WRONG_HANDLER, aq_request_short(ep, to, &call, NULL));
  free(payload);
}

// The same with payloads that are prepared.
static void check_prepared(aq_endpoint* ep, Seen* seen) {
  const uint32_t words[2] = {17, aq_rank(ep)}, to = next_of(ep);
  unsigned char* const payload = new_pattern(aq_rank(ep), kBytes);
  seen->negotiates = true;
  aq_call call = {words, 2, seen->ask[0], 0, 0, 0};
  OK(aq_request_short(ep, to, &call, NULL));

  const aq_bounds lent = {kBytes, 2 * kBytes, NULL, 0}, own = {1, kBytes, payload, kBytes};
  aq_prepared prepared;
  OK(aq_prepare_medium(ep, to, &lent, NULL, &prepared));
  HOLDS(aq_prepared_size(&prepared) >= kBytes && aq_prepared_buffer(&prepared) != NULL);
  memcpy(aq_prepared_buffer(&prepared), payload, kBytes);
  call.handler = seen->ask[1];
  FAILS(AQ_TOO_LARGE, aq_commit(&prepared, &call, 2 * kBytes + 1, NULL));
  OK(aq_commit(&prepared, &call, kBytes, NULL));
  FAILS(AQ_INVALID_ARGUMENT, aq_commit(&prepared, &call, kBytes, NULL));  // committed before

  OK(aq_prepare_long_anywhere(ep, to, &own, NULL, &prepared));
  HOLDS(aq_prepared_size(&prepared) == kBytes && aq_prepared_buffer(&prepared) == NULL);
  call.handler = seen->ask[2];
  FAILS(AQ_INVALID_ARGUMENT, aq_commit(&prepared, &call, kBytes, NULL));  // it has no place yet
  OK(aq_prepared_place(&prepared, aq_at(to, 0, 0)));
  OK(aq_commit(&prepared, &call, kBytes, NULL));
  wait_for_all(ep, seen);

  OK(aq_prepare_medium(ep, to, &lent, NULL, &prepared));
  aq_cancel(&prepared);
  aq_cancel(&prepared);
  HOLDS(aq_prepared_size(&prepared) == 0);
  seen->negotiates = false;
  free(payload);
}

static void check_raw(aq_endpoint* ep, Seen* seen, bool negotiates) {
  const uint32_t words[2] = {17, aq_rank(ep)}, to = next_of(ep);
  unsigned char* const payload = new_pattern(aq_rank(ep), kBytes);
  aq_space space;
  OK(aq_space_create(ep, negotiates ? "negotiated" : "plain", &space));
  aq_accepts requests = {1 << AQ_SHORT_REQUEST | 1 << AQ_MEDIUM_REQUEST | 1 << AQ_LONG_REQUEST, 2, 2, 2};
  FAILS(AQ_INVALID_ARGUMENT, aq_space_add(&space, 100, on_request, seen, &requests));  // no such flag
  requests.flags = 0;
  if (negotiates) requests.flags = AQ_PARALLEL;
  OK(aq_space_add(&space, 100, on_request, seen, &requests));
  OK(aq_space_add(&space, 200, on_reply, seen, NULL));
  OK(aq_space_add(&space, 201, on_reply, seen, NULL));
  HOLDS(aq_space_has(&space, 201));
  OK(aq_space_remove(&space, 201));
  HOLDS(!aq_space_has(&space, 201));
  FAILS(AQ_INVALID_ARGUMENT, aq_space_add(&space, 100, on_request, seen, NULL));  // it has one
  seen->negotiates = negotiates;
  OK(aq_barrier(ep));
  const aq_call call = {words, 2, 0, 0xcafe, 100, 0};
  OK(aq_raw_request_short(&space, to, &call, NULL));
  if (negotiates) {
    const aq_bounds own = {kBytes, kBytes, payload, kBytes};
    aq_prepared prepared;
    OK(aq_prepare_medium(ep, to, &own, NULL, &prepared));
    OK(aq_commit_raw(&prepared, &space, &call, kBytes, NULL));
    OK(aq_prepare_long(ep, aq_at(to, 0, 0), &own, NULL, &prepared));
    OK(aq_commit_raw(&prepared, &space, &call, kBytes, NULL));
  } else {
    OK(aq_raw_request_medium(&space, to, &call, payload, kBytes, NULL));
    OK(aq_raw_request_long(&space, aq_at(to, 0, 0), &call, payload, kBytes, NULL));
  }
  wait_for_all(ep, seen);
  free(payload);
}

static void run(aq_endpoint* ep, void* context) {
  (void)context;
  Seen* const seen = calloc(1, sizeof *seen);
  HOLDS(seen != NULL);
  seen->ep = ep;
  for (int i = 0; i < 3; ++i) {
    // The endpoint has one thread, so parallel ones run as others do.
    OK((i == 1 ? aq_register_parallel : aq_register)(ep, AQ_SHORT_REQUEST + i, 2, on_request, seen,
                                                     &seen->ask[i]));
    OK(aq_register(ep, AQ_SHORT_REPLY + i, 2, on_reply, seen, &seen->answer[i]));
  }
  OK(aq_barrier(ep));
  check_plain(ep, seen);
  check_prepared(ep, seen);
  check_raw(ep, seen, false);
  check_raw(ep, seen, true);
  free(seen);
}

int main(void) { return run_job(run); }
