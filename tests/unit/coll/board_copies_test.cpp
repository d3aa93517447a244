// What the system copies between processes is combined as what is mapped.

#include <aqueduct/half.hpp>

#include "tests/unit/coll/board_storm.hpp"

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <vector>

namespace aqueduct::coll::storm {
namespace {

/// The sum of 2048, 1, 1 and 0 in each element, at the root.
std::vector<Half> sum_of_halves(Operation operation, BufferNote::Kind in, BufferNote::Kind out) {
  constexpr std::size_t kCount = 3000;
  constexpr BoardRoom kRoom{.slots = 8, .narrow = 4, .bulk = 1024};
  const float values[kMembers] = {2048, 1, 1, 0};
  const auto memory = std::make_unique<StormMemory>();
  Shape shape;
  shape.operation = operation;
  shape.in = shape.out = Sync::mine;
  shape.ranks = kMembers;
  shape.element = sizeof(Half);
  shape.bytes = shape.pitch = kCount * sizeof(Half);
  const BoardCombiner combiner{.fold = kernels::Fold::of(ElementType::half, ReduceOp::sum)};
  const std::size_t blocks = operation == Operation::reduce_scatter ? kMembers : 1;
  std::array<std::vector<Half>, kMembers> inputs, outputs;
  std::array<BoardPlan, kMembers> plans;
  std::array<BoardOp, kMembers> ops;
  std::vector<std::unique_ptr<BoardOf<StormAccess>>> boards;
  for (Rank r = 0; r < kMembers; ++r) {
    inputs[r].assign(blocks * kCount, to_half(values[r]));
    outputs[r].resize(kCount);
    make_plan(plans[r], *board_algorithm(operation, BoardMethod::tiles), shape, r, kRoom);
    boards.push_back(std::make_unique<BoardOf<StormAccess>>(StormAccess{memory.get()}, kRoom, kMembers, r));
    ops[r].plan = &plans[r];
    ops[r].combiner = &combiner;
    ops[r].in = reinterpret_cast<const std::byte*>(inputs[r].data());
    ops[r].out = reinterpret_cast<std::byte*>(outputs[r].data());
    ops[r].notes = {StormCall::note_of(inputs[r].data(), in), StormCall::note_of(outputs[r].data(), out)};
    boards[r]->begin(ops[r]);
  }
  std::array<bool, kMembers> ended{};
  for (std::size_t left = kMembers; left != 0;) {
    for (Rank r = 0; r < kMembers; ++r) {
      if (ended[r] || !boards[r]->step(ops[r])) continue;
      ended[r] = true;
      --left;
    }
  }
  return outputs[0];
}

// Whatever way the bytes take, and however they are cut.
TEST(BoardCopies, HalvesAreRoundedOnce) {
  for (const Operation operation : {Operation::reduce, Operation::reduce_scatter}) {
    for (const BufferNote::Kind in : {BufferNote::address, BufferNote::of_process, BufferNote::nowhere}) {
      for (const BufferNote::Kind out : {BufferNote::address, BufferNote::nowhere}) {
        SCOPED_TRACE(static_cast<int>(operation) * 100 + static_cast<int>(in) * 10 + static_cast<int>(out));
        for (const Half sum : sum_of_halves(operation, in, out)) ASSERT_EQ(to_float(sum), 2050.0f);
      }
    }
  }
}

}  // namespace
}  // namespace aqueduct::coll::storm
