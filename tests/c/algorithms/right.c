#include "tests/c/algorithms/right.h"

#include <string.h>

static const char* refusal_of_backwards(const aq_algorithm_call* call, void* context) {
  const most_members* const most = context;
  return call->ranks > most->ranks ? most->refusal : NULL;
}
static aq_algorithm_needs needs_of_backwards(const aq_algorithm_call* call, void* context) {
  (void)context;
  const aq_algorithm_needs needs = {call->bytes, 0, 2, 0};
  return needs;
}
static aq_algorithm_cost cost_of_backwards(const aq_algorithm_call* call, void* context) {
  (void)context;
  const uint64_t others = call->ranks - 1;
  const aq_algorithm_cost cost = {others + others * call->parameters[0], others * call->bytes, 2, 0};
  return cost;
}
static void build_backwards(const aq_algorithm_call* call, uint32_t member, aq_step_list* steps,
                            void* context) {
  (void)context;
  enum { kArrived, kAnswered };
  const uint32_t answers = call->parameters[0];
  if (member == call->root) {
    for (uint32_t to = call->ranks; to-- > 0;) {
      if (to != member)
        aq_step_put(steps, to, aq_step_at(AQ_STEP_INPUT, 0), 0, call->bytes, kArrived, AQ_NO_COUNTER);
    }
    aq_step_copy(steps, aq_step_at(AQ_STEP_INPUT, 0), aq_step_at(AQ_STEP_OUTPUT, 0), call->bytes);
    aq_step_wait(steps, kAnswered, (call->ranks - 1) * answers);
    return;
  }
  aq_step_wait(steps, kArrived, 1);
  aq_step_copy(steps, aq_step_at(AQ_STEP_SCRATCH, 0), aq_step_at(AQ_STEP_OUTPUT, 0), call->bytes);
  for (uint32_t i = 0; i < answers; ++i) aq_step_signal(steps, call->root, kAnswered);
}

aq_algorithm backwards(const most_members* most) {
  aq_algorithm made;
  memset(&made, 0, sizeof made);
  made.name = "backwards";
  made.operation = AQ_COLL_BROADCAST;
  made.parameters[0] = (aq_algorithm_parameter){"answers", 1, 4, 1, 0};
  made.refusal = refusal_of_backwards;
  made.needs = needs_of_backwards;
  made.cost = cost_of_backwards;
  made.build = build_backwards;
  made.context = (void*)(uintptr_t)most;
  return made;
}

static aq_algorithm_needs needs_of_all_inputs(const aq_algorithm_call* call, void* context) {
  (void)context;
  const aq_algorithm_needs needs = {call->ranks * call->bytes, call->bytes, 2, 0};
  return needs;
}
static aq_algorithm_cost cost_of_all_inputs(const aq_algorithm_call* call, void* context) {
  (void)context;
  const uint64_t puts = (uint64_t)call->ranks * (call->ranks - 1);
  const aq_algorithm_cost cost = {puts, puts * call->bytes, 1, 0};
  return cost;
}
static aq_step_place block_of_member(const aq_algorithm_call* call, uint32_t me, uint32_t of) {
  return of == me ? aq_step_at(AQ_STEP_INPUT, 0) : aq_step_at(AQ_STEP_SCRATCH, of * call->bytes);
}
static void build_all_inputs(const aq_algorithm_call* call, uint32_t me, aq_step_list* steps, void* context) {
  (void)context;
  enum { kArrived, kSent };
  const aq_step_place input = aq_step_at(AQ_STEP_INPUT, 0), sum = aq_step_at(AQ_STEP_TEMPORARY, 0);
  for (uint32_t to = 0; to < call->ranks; ++to) {
    if (to != me) aq_step_put(steps, to, input, me * call->bytes, call->bytes, kArrived, kSent);
  }
  aq_step_wait(steps, kArrived, call->ranks - 1);
  for (uint32_t of = 1; of < call->ranks; ++of) {
    const aq_step_place before = of == 1 ? block_of_member(call, me, 0) : sum;
    aq_step_reduce(steps, before, block_of_member(call, me, of), sum, call->bytes);
  }
  aq_step_wait(steps, kSent, call->ranks - 1);  // the output may be the input
  aq_step_copy(steps, sum, aq_step_at(AQ_STEP_OUTPUT, 0), call->bytes);
}

aq_algorithm all_inputs(void) {
  aq_algorithm made;
  memset(&made, 0, sizeof made);
  made.name = "all-inputs";
  made.operation = AQ_COLL_ALL_REDUCE;
  made.needs = needs_of_all_inputs;
  made.cost = cost_of_all_inputs;
  made.build = build_all_inputs;
  return made;
}
