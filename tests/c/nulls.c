// Null for pointers that calls read through, in turn: each call refuses it, and does nothing. Replies get no token, since they are called
// outside handlers: nulls/replies.c tries the other arguments.
#include "tests/c/nulls/nulls.h"

volatile uintptr_t nothing = 0;

static void handle(void* context, const aq_incoming* incoming) { (void)context, (void)incoming; }
static void over(void* context, aq_status outcome) { (void)context, (void)outcome; }

typedef struct {
  aq_endpoint* ep;
  const aq_shape *there, *here;
  const aq_call* call;
  const aq_bounds* bounds;
  aq_prepared* prepared;
  const aq_space* space;
  const aq_domain* domain;
  aq_event* event;
  uint16_t* id;
} arguments;

// Each function with these arguments, one of which is null. `uses` says which ones it needs.
enum {
  EP = 1,
  THERE = 2,
  HERE = 4,
  CALL = 8,
  BOUNDS = 16,
  PREPARED = 32,
  SPACE = 64,
  DOMAIN = 128,
  EVENT = 256,
  ID = 512
};
typedef aq_status (*call_of)(const arguments* a, aq_ptr at);

static uint64_t word[4];
static aq_status outcome_of(aq_endpoint* ep, aq_event event) { return aq_wait(ep, &event); }
static aq_endpoint* any_ep;  // for the outcomes of events

#define FORM(name, expression) \
  static aq_status name(const arguments* a, aq_ptr at) { return (void)at, expression; }
FORM(put_pieces, aq_put_pieces(a->ep, at, a->there, word, a->here))
FORM(put_pieces_nb, outcome_of(any_ep, aq_put_pieces_nb(a->ep, at, a->there, word, a->here, NULL)))
FORM(put_pieces_nbi, aq_put_pieces_nbi(a->ep, at, a->there, word, a->here, NULL))
FORM(put_pieces_signal,
     outcome_of(any_ep, aq_put_pieces_signal_nb(a->ep, at, a->there, word, a->here, 0, 1, NULL)))
FORM(get_pieces, aq_get_pieces(a->ep, word, a->here, at, a->there))
FORM(get_pieces_nb, outcome_of(any_ep, aq_get_pieces_nb(a->ep, word, a->here, at, a->there, NULL)))
FORM(get_pieces_nbi, aq_get_pieces_nbi(a->ep, word, a->here, at, a->there, NULL))
FORM(accumulate, outcome_of(any_ep, aq_accumulate_nb(a->ep, AQ_U64, at, a->there, word, a->here)))
FORM(accumulate_nbi, aq_accumulate_nbi(a->ep, AQ_U64, at, a->there, word, a->here))
FORM(request_short, aq_request_short(a->ep, at.rank, a->call, NULL))
FORM(request_medium, aq_request_medium(a->ep, at.rank, a->call, word, 8, NULL))
FORM(request_long, aq_request_long(a->ep, at, a->call, word, 8, NULL))
FORM(reply_short, aq_reply_short(NO(aq_incoming), a->call))
FORM(reply_medium, aq_reply_medium(NO(aq_incoming), a->call, word, 8))
FORM(reply_long, aq_reply_long(NO(aq_incoming), a->call, word, 8, at))
FORM(register_one, aq_register(a->ep, AQ_SHORT_REQUEST, 0, handle, NULL, a->id))
FORM(register_parallel, aq_register_parallel(a->ep, AQ_SHORT_REQUEST, 0, handle, NULL, a->id))
FORM(space_create, aq_space_create(a->ep, "nulls", (aq_space*)(uintptr_t)a->space))
FORM(space_add, aq_space_add(a->space, 1, handle, NULL, NULL))
FORM(space_remove, aq_space_remove(a->space, 1))
FORM(raw_short, aq_raw_request_short(a->space, at.rank, a->call, NULL))
FORM(raw_medium, aq_raw_request_medium(a->space, at.rank, a->call, word, 8, NULL))
FORM(raw_long, aq_raw_request_long(a->space, at, a->call, word, 8, NULL))
FORM(prepare_medium, aq_prepare_medium(a->ep, at.rank, a->bounds, NULL, a->prepared))
FORM(prepare_long, aq_prepare_long(a->ep, at, a->bounds, NULL, a->prepared))
FORM(prepare_anywhere, aq_prepare_long_anywhere(a->ep, at.rank, a->bounds, NULL, a->prepared))
FORM(prepare_reply, aq_prepare_reply_medium(NO(aq_incoming), a->bounds, a->prepared))
FORM(prepare_reply_long, aq_prepare_reply_long(NO(aq_incoming), at, a->bounds, a->prepared))
FORM(prepare_reply_anywhere, aq_prepare_reply_long_anywhere(NO(aq_incoming), a->bounds, a->prepared))
FORM(place, aq_prepared_place(a->prepared, at))
FORM(commit, aq_commit(a->prepared, a->call, 0, NULL))
FORM(commit_raw, aq_commit_raw(a->prepared, a->space, a->call, 0, NULL))
FORM(domain_create, aq_domain_create(a->ep, 1, AQ_U64, AQ_FAVOUR_NEAR, (aq_domain*)(uintptr_t)a->domain))
FORM(domain_atomic, aq_domain_atomic(a->domain, AQ_ADD, at, word, NULL, NULL))
FORM(domain_nb, outcome_of(any_ep, aq_domain_atomic_nb(a->domain, AQ_ADD, at, word, NULL, NULL, NULL)))
FORM(domain_nbi, aq_domain_atomic_nbi(a->domain, AQ_ADD, at, word, NULL, NULL, NULL))
FORM(atomic, aq_atomic(a->ep, AQ_ADD, AQ_U64, at, word, NULL, NULL))
FORM(atomic_nb, outcome_of(any_ep, aq_atomic_nb(a->ep, AQ_ADD, AQ_U64, at, word, NULL, NULL, NULL)))
FORM(atomic_nbi, aq_atomic_nbi(a->ep, AQ_ADD, AQ_U64, at, word, NULL, NULL, NULL))
FORM(wait_for, aq_wait_for(a->ep, a->event, 0))
FORM(wait_all, aq_wait_all(a->ep, a->event, 1))
FORM(wait_any, aq_wait_any(a->ep, a->event, 1, 0, (size_t*)(uintptr_t)a->id))
FORM(then, aq_then(a->ep, a->event, over, NULL))
FORM(wait_implicit, aq_wait_implicit(a->ep))
FORM(put_signal, aq_put_signal(a->ep, at, word, 8, 0, 1))
FORM(send_signal, aq_signal(a->ep, at.rank, 0, 1))
#ifdef AQUEDUCT_CHECKED
FORM(put_long, aq_put(a->ep, aq_at(at.rank, 12345, 0), word, 8))
FORM(put, aq_put(a->ep, at, word, 8))
FORM(put_nb, outcome_of(any_ep, aq_put_nb(a->ep, at, word, 8, NULL)))
FORM(put_nbi, aq_put_nbi(a->ep, at, word, 8, NULL))
FORM(get, aq_get(a->ep, word, at, 8))
FORM(get_nb, outcome_of(any_ep, aq_get_nb(a->ep, word, at, 8, NULL)))
FORM(get_nbi, aq_get_nbi(a->ep, word, at, 8, NULL))
FORM(put_u64, aq_put_u64(a->ep, at, 1))
FORM(get_u64, aq_get_u64(a->ep, at, word))
FORM(add, aq_add_u64(a->ep, at, 1))
FORM(store, aq_store_u64(a->ep, at, 1))
FORM(fetch_add, aq_fetch_add_u64(a->ep, at, 1, (uint64_t*)(uintptr_t)a->id))
FORM(swap, aq_swap_u64(a->ep, at, 1, (uint64_t*)(uintptr_t)a->id))
FORM(load, aq_load_u64(a->ep, at, (uint64_t*)(uintptr_t)a->id))
FORM(compare_swap, aq_compare_swap_u64(a->ep, at, 1, 2, (uint64_t*)(uintptr_t)a->id))
FORM(wait, aq_wait(any_ep, a->event))
#endif

typedef struct {
  const char* name;
  call_of call;
  unsigned uses;
} form;
static const form forms[] = {
    {"put_pieces", put_pieces, EP | THERE | HERE},
    {"put_pieces_nb", put_pieces_nb, EP | THERE | HERE},
    {"put_pieces_nbi", put_pieces_nbi, EP | THERE | HERE},
    {"put_pieces_signal", put_pieces_signal, EP | THERE | HERE},
    {"get_pieces", get_pieces, EP | THERE | HERE},
    {"get_pieces_nb", get_pieces_nb, EP | THERE | HERE},
    {"get_pieces_nbi", get_pieces_nbi, EP | THERE | HERE},
    {"accumulate", accumulate, EP | THERE | HERE},
    {"accumulate_nbi", accumulate_nbi, EP | THERE | HERE},
    {"request_short", request_short, EP | CALL},
    {"request_medium", request_medium, EP | CALL},
    {"request_long", request_long, EP | CALL},
    {"reply_short", reply_short, CALL},
    {"reply_medium", reply_medium, CALL},
    {"reply_long", reply_long, CALL},
    {"register", register_one, EP | ID},
    {"register_parallel", register_parallel, EP | ID},
    {"space_create", space_create, EP | SPACE},
    {"space_add", space_add, SPACE},
    {"space_remove", space_remove, SPACE},
    {"raw_request_short", raw_short, SPACE | CALL},
    {"raw_request_medium", raw_medium, SPACE | CALL},
    {"raw_request_long", raw_long, SPACE | CALL},
    {"prepare_medium", prepare_medium, EP | BOUNDS | PREPARED},
    {"prepare_long", prepare_long, EP | BOUNDS | PREPARED},
    {"prepare_long_anywhere", prepare_anywhere, EP | BOUNDS | PREPARED},
    {"prepare_reply_medium", prepare_reply, BOUNDS | PREPARED},
    {"prepare_reply_long", prepare_reply_long, BOUNDS | PREPARED},
    {"prepare_reply_long_anywhere", prepare_reply_anywhere, BOUNDS | PREPARED},
    {"prepared_place", place, PREPARED},
    {"commit", commit, PREPARED | CALL},
    {"commit_raw", commit_raw, PREPARED | CALL},
    {"domain_create", domain_create, EP | DOMAIN},
    {"domain_atomic", domain_atomic, DOMAIN},
    {"domain_atomic_nb", domain_nb, DOMAIN},
    {"domain_atomic_nbi", domain_nbi, DOMAIN},
    {"atomic", atomic, EP},
    {"atomic_nb", atomic_nb, EP},
    {"atomic_nbi", atomic_nbi, EP},
    {"wait_for", wait_for, EP | EVENT},
    {"wait_all", wait_all, EP | EVENT},
    {"wait_any", wait_any, EP | EVENT | ID},
    {"then", then, EP | EVENT},
    {"wait_implicit", wait_implicit, EP},
    {"put_signal", put_signal, EP},
    {"signal", send_signal, EP},
#ifdef AQUEDUCT_CHECKED
    {"put, not mapped", put_long, EP},
    {"put", put, EP},
    {"put_nb", put_nb, EP},
    {"put_nbi", put_nbi, EP},
    {"get", get, EP},
    {"get_nb", get_nb, EP},
    {"get_nbi", get_nbi, EP},
    {"put_u64", put_u64, EP},
    {"get_u64", get_u64, EP},
    {"add", add, EP},
    {"store", store, EP},
    {"fetch_add", fetch_add, EP | ID},
    {"swap", swap, EP | ID},
    {"load", load, EP | ID},
    {"compare_swap", compare_swap, EP | ID},
    {"wait", wait, EVENT},
#endif
};

static void run(aq_endpoint* ep, void* context) {
  (void)context;
  any_ep = ep;
  const aq_dimension two = {2, 8};
  const aq_shape shape = {AQ_STRIDED, 0, 8, &two, 1};
  const aq_call call = {NULL, 0, 0, 0, 0, 0};
  const aq_bounds bounds = {0, 8, NULL, 0};
  aq_space space;
  OK(aq_space_create(ep, "whole", &space));
  aq_domain domain;
  OK(aq_domain_create(ep, 1u << AQ_ADD, AQ_U64, AQ_FAVOUR_NEAR, &domain));
  const aq_ptr at = aq_at(aq_rank(ep), 0, 0);
  for (size_t i = 0; i < sizeof forms / sizeof forms[0]; ++i) {
    for (unsigned null = EP; null <= ID; null <<= 1) {
      if ((forms[i].uses & null) == 0) continue;
      aq_prepared prepared = {{0}};
      aq_event event = aq_finished_event();
      uint64_t id[2] = {0};
      const arguments a = {null == EP ? NULL : ep,          null == THERE ? NULL : &shape,
                           null == HERE ? NULL : &shape,    null == CALL ? NULL : &call,
                           null == BOUNDS ? NULL : &bounds, null == PREPARED ? NULL : &prepared,
                           null == SPACE ? NULL : &space,   null == DOMAIN ? NULL : &domain,
                           null == EVENT ? NULL : &event,   null == ID ? NULL : (uint16_t*)id};
      const aq_status status = forms[i].call(&a, at);
      if (status.code != AQ_INVALID_ARGUMENT) {
        fprintf(stderr, "%s with argument %#x null ends with %d\n", forms[i].name, null, status.code);
        exit(1);
      }
    }
  }
  const aq_call no_words = {NULL, 2, 0, 0, 0, 0};  // it says that there are two
  for (size_t i = 0; i < sizeof forms / sizeof forms[0]; ++i) {
    if ((forms[i].uses & CALL) == 0) continue;
    aq_prepared prepared = {{0}};
    const arguments a = {ep, &shape, &shape, &no_words, &bounds, &prepared, &space, &domain, NULL, NULL};
    FAILS(AQ_INVALID_ARGUMENT, forms[i].call(&a, at));
  }
  HOLDS(aq_prepared_size(NO(aq_prepared)) == 0 && aq_prepared_buffer(NO(aq_prepared)) == NULL);
  aq_cancel(NO(aq_prepared));
  HOLDS(!aq_space_has(NO(aq_space), 1) && !aq_domain_is_native(NO(aq_domain)));
  HOLDS(aq_signal_value(NO(aq_endpoint), 0) == 0 && !aq_test_signal(NO(aq_endpoint), 0, 1));
  check_null_handles(ep);
  check_null_in_replies(ep);
  OK(aq_barrier(ep));
}

int main(void) { return run_job(run); }
