#include <aqueduct/algorithm.hpp>
#include <aqueduct/c/algorithm.h>

#include "c/convert.hpp"

#include <algorithm>
#include <iterator>
#include <memory>
#include <tuple>

using namespace aqueduct;

namespace aqueduct::c {
namespace {

constexpr bool same(int number, StepMemory memory) { return number == static_cast<int>(memory); }
static_assert(same(AQ_STEP_INPUT, StepMemory::input) && same(AQ_STEP_OUTPUT, StepMemory::output) &&
              same(AQ_STEP_SCRATCH, StepMemory::scratch) && same(AQ_STEP_TEMPORARY, StepMemory::temporary));
static_assert(AQ_NO_COUNTER == StepList::kNoCounter);

/// What the functions below find as the call's context: the program's functions, and their own context.
const aq_algorithm& program_of(const AlgorithmCall& call) noexcept {
  return *static_cast<const aq_algorithm*>(call.context);
}

std::uint32_t plain_sync(Sync sync) noexcept {
  switch (sync) {
    case Sync::none: return AQ_SYNC_NONE;
    case Sync::mine: return AQ_SYNC_MINE;
    case Sync::all: break;
  }
  return AQ_SYNC_ALL;
}

aq_algorithm_call plain_call(const AlgorithmCall& call) noexcept {
  static_assert(std::tuple_size_v<decltype(call.parameters)> == AQ_ALGORITHM_PARAMETERS);
  return {.operation = static_cast<std::uint32_t>(call.operation),
          .in = plain_sync(call.in),
          .out = plain_sync(call.out),
          .order = static_cast<std::uint32_t>(call.order),
          .commutative = call.commutative ? 1u : 0u,
          .ranks = call.ranks,
          .root = call.root,
          .element = call.element,
          .bytes = call.bytes,
          .pitch = call.pitch,
          .parameters = {call.parameters[0], call.parameters[1], call.parameters[2]},
          .reserved = 0};
}

const char* refusal_of_program(const AlgorithmCall& call) noexcept {
  const aq_algorithm_call asked = plain_call(call);
  return program_of(call).refusal(&asked, program_of(call).context);
}
AlgorithmNeeds needs_of_program(const AlgorithmCall& call) noexcept {
  const aq_algorithm_call asked = plain_call(call);
  const aq_algorithm_needs needs = program_of(call).needs(&asked, program_of(call).context);
  return {.scratch = needs.scratch, .temporary = needs.temporary, .counters = needs.counters};
}
AlgorithmCost cost_of_program(const AlgorithmCall& call) noexcept {
  const aq_algorithm_call asked = plain_call(call);
  const aq_algorithm_cost cost = program_of(call).cost(&asked, program_of(call).context);
  return {.messages = cost.messages, .bytes = cost.bytes, .depth = cost.depth};
}
void build_by_program(const AlgorithmCall& call, Rank member, StepList& steps) noexcept {
  const aq_algorithm_call asked = plain_call(call);
  program_of(call).build(&asked, member, reinterpret_cast<aq_step_list*>(&steps), program_of(call).context);
}

/// Functions that are null stay null: the library says that they are missing.
CollectiveAlgorithm whole_algorithm(const aq_algorithm& from) {
  CollectiveAlgorithm made;
  made.name = from.name != nullptr ? from.name : "";
  made.operation = static_cast<Collective>(std::min<std::uint32_t>(from.operation, 0xff));
  for (const aq_algorithm_parameter& one : from.parameters) {
    if (one.name == nullptr) break;
    made.parameters.push_back({one.name, one.least, one.most, one.usual});
  }
  if (from.refusal != nullptr) made.refusal = refusal_of_program;
  if (from.needs != nullptr) made.needs = needs_of_program;
  if (from.cost != nullptr) made.cost = cost_of_program;
  if (from.build != nullptr) made.build = build_by_program;
  made.context = std::make_shared<const aq_algorithm>(from);
  return made;
}

bool reserved_are_zero(const aq_algorithm& algorithm) noexcept {
  return algorithm.reserved == 0 &&
         std::all_of(std::begin(algorithm.parameters), std::end(algorithm.parameters),
                     [](const aq_algorithm_parameter& one) { return one.reserved == 0; });
}

StepList& whole_list(aq_step_list* steps) noexcept { return *reinterpret_cast<StepList*>(steps); }

/// A kind of memory that there is not stays one, and the library says so.
StepPlace whole_place(aq_step_place place) noexcept {
  return {static_cast<StepMemory>(std::min<std::uint32_t>(place.memory, 0xff)), place.offset};
}

}  // namespace
}  // namespace aqueduct::c

aq_status aq_config_add_algorithm(aq_config* config, const aq_algorithm* algorithm) {
  if (c::lacks("aq_config_add_algorithm", {{"config", config}, {"algorithm", algorithm}}))
    return c::plain(ErrorCode::invalid_argument);
  if (!c::reserved_are_zero(*algorithm)) return c::plain(ErrorCode::invalid_argument);
  return c::guarded(
      [&] { return reinterpret_cast<Config*>(config)->add_algorithm(c::whole_algorithm(*algorithm)); });
}

void aq_step_wait(aq_step_list* steps, uint32_t counter, uint32_t total) {
  if (c::lacks("aq_step_wait", {{"steps", steps}})) return;
  c::whole_list(steps).wait(counter, total);
}
void aq_step_put(aq_step_list* steps, uint32_t peer, aq_step_place from, uint64_t to_scratch, uint64_t bytes,
                 uint32_t counter, uint32_t done) {
  if (c::lacks("aq_step_put", {{"steps", steps}})) return;
  c::whole_list(steps).put(peer, c::whole_place(from), to_scratch, bytes, counter, done);
}
void aq_step_signal(aq_step_list* steps, uint32_t peer, uint32_t counter) {
  if (c::lacks("aq_step_signal", {{"steps", steps}})) return;
  c::whole_list(steps).signal(peer, counter);
}
void aq_step_copy(aq_step_list* steps, aq_step_place from, aq_step_place to, uint64_t bytes) {
  if (c::lacks("aq_step_copy", {{"steps", steps}})) return;
  c::whole_list(steps).copy(c::whole_place(from), c::whole_place(to), bytes);
}
void aq_step_reduce(aq_step_list* steps, aq_step_place left, aq_step_place right, aq_step_place to,
                    uint64_t bytes) {
  if (c::lacks("aq_step_reduce", {{"steps", steps}})) return;
  c::whole_list(steps).reduce(c::whole_place(left), c::whole_place(right), c::whole_place(to), bytes);
}
