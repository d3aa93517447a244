#include "coll/algorithms/algorithms.hpp"
#include "coll/algorithms/steps.hpp"

#include <array>

namespace aqueduct::coll {

namespace {

// One step hands the operation to the conduit, and one waits for its end. Without bytes there is nothing to hand over:
// only the passes around it are left.

constexpr Counter kNativeDone = 0;

Needs native_needs(const Shape&) noexcept { return {.scratch = 0, .temp = 0, .counters = 1}; }

std::uint32_t native_length(const Shape& shape, Rank, std::uint32_t) noexcept {
  return shape.bytes == 0 ? 0 : 2;
}

Step native_step(const Shape&, Rank, std::uint32_t, std::uint32_t index) noexcept {
  if (index != 0) return wait_only(kNativeDone, 1);
  Step step;
  step.kind = Step::Kind::native;
  step.done = kNativeDone;
  return step;
}

Cost native_cost(const Shape&) noexcept { return {}; }  // NativeTeam::cost says it

constexpr Algorithm native_of(Operation operation) noexcept {
  return {.name = "native",
          .operation = operation,
          .parameters = {},
          .native = true,
          .refusal = no_refusal,  // the team's conduit is asked
          .needs = native_needs,
          .lanes = one_lane,
          .length = native_length,
          .step = native_step,
          .cost = native_cost};
}

constexpr std::array kNatives{
    native_of(Operation::broadcast),  native_of(Operation::scatter),        native_of(Operation::gather),
    native_of(Operation::all_gather), native_of(Operation::all_to_all),     native_of(Operation::reduce),
    native_of(Operation::all_reduce), native_of(Operation::reduce_scatter), native_of(Operation::scan),
    native_of(Operation::exscan),
};

}  // namespace

std::span<const Algorithm> native_algorithms() noexcept { return kNatives; }

const Algorithm* native_algorithm(Operation operation) noexcept {
  for (const Algorithm& algorithm : kNatives) {
    if (algorithm.operation == operation) return &algorithm;
  }
  return nullptr;
}

}  // namespace aqueduct::coll
