// Collective calls after the first of a shape. Here, because this program counts the calls of operator new.

#include <aqueduct/aqueduct.hpp>

#include "conduits/loop/tests/allocation_count.hpp"
#include "tests/conformance/collective.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <span>
#include <vector>

namespace aqueduct::conduits::loop {
namespace {

using conformance::coll_call;
using conformance::CollectiveCall;

constexpr int kCalls = 50;

/// A rank's buffers, and calls with them.
struct CallsOfAShape {
  Endpoint& me;
  CollectiveCall call;
  std::vector<std::int64_t> input = std::vector<std::int64_t>(call.count * me.ranks());
  std::vector<std::int64_t> output = input;

  std::span<const std::int64_t> in() const {
    return std::span(input).first(call.count * conformance::blocks_in(call.operation, me.ranks()));
  }
  std::span<std::int64_t> out() {
    return std::span(output).first(call.count * conformance::blocks_out(call.operation, me.ranks()));
  }
  Status run() {
    std::span<const std::int64_t> from = in();
    std::span<std::int64_t> to = out();
    return coll_call<conformance::BlockingCalls>(me.world(), call, from, to);
  }
  Status begin_and_wait() {
    std::span<const std::int64_t> from = in();
    std::span<std::int64_t> to = out();
    return me.wait(coll_call<conformance::CallsInFlight>(me.world(), call, from, to));
  }
};

void expect_no_allocations(Endpoint& me, const CollectiveCall& call) {
  CallsOfAShape calls{me, call};
  ASSERT_TRUE(calls.run());
  std::uint64_t before = allocations();
  for (int i = 0; i < kCalls; ++i) {
    if (!calls.run() || !calls.begin_and_wait()) ADD_FAILURE() << "a call has failed";
  }
  EXPECT_EQ(allocations() - before, 0u) << "operation " << static_cast<int>(call.operation) << ", "
                                        << call.count << " elements, rank " << me.rank();
  std::span<const std::int64_t> in = calls.in();
  std::span<std::int64_t> out = calls.out();
  auto plan = coll_call<conformance::Plans>(me.world(), call, in, out);
  ASSERT_TRUE(plan) << plan.status().text();
  ASSERT_TRUE(plan->run());
  before = allocations();
  for (int i = 0; i < kCalls; ++i) {
    if (!plan->run()) ADD_FAILURE() << "a plan has failed";
  }
  EXPECT_EQ(allocations() - before, 0u)
      << "plan, operation " << static_cast<int>(call.operation) << ", " << call.count << " elements";
  ASSERT_TRUE(plan->end());
}

/// Runs every operation on three ranks of one process, with blocks of each of these lengths. Only the first call of a shape may
/// allocate.
void expect_no_allocations(const Config& config, std::span<const std::uint64_t> counts) {
  auto job = Job::in_process(3, config);
  ASSERT_TRUE(job) << job.status().text();
  job->run_each([&](Endpoint& me) {
    // The engine's pools, the operations and the connections get their memory with the first calls of all.
    for (const Collective operation : conformance::kCollectives) {
      CallsOfAShape calls{me, {.operation = operation, .count = 3}};
      for (int i = 0; i < kCalls; ++i) ASSERT_TRUE(calls.run());
    }
    for (const Collective operation : conformance::kCollectives) {
      for (const std::uint64_t count : counts) {
        ASSERT_NO_FATAL_FAILURE(expect_no_allocations(me, {.operation = operation, .count = count}));
      }
    }
    ASSERT_TRUE(me.barrier());
  });
  EXPECT_TRUE(job->finish());
}

TEST(CollectiveAllocations, ComeOnlyWithTheFirstCallOfAShape) {
  Config config;
  ASSERT_TRUE(config.set("conduit", "loop"));
  ASSERT_TRUE(config.set("near", "off"));
  ASSERT_TRUE(config.set("segment_bytes", "4K"));
  expect_no_allocations(config, std::vector<std::uint64_t>{1, 600});
}

// On the board: beside a line's number, in slots, and what is longer than a slot (requirement HT-13).
TEST(CollectiveAllocations, InSharedMemoryComeOnlyWithTheFirstCallOfAShape) {
  Config config;
  ASSERT_TRUE(config.set("conduit", "smp"));
  ASSERT_TRUE(config.set("segment_bytes", "4K"));
  expect_no_allocations(config, std::vector<std::uint64_t>{1, 600, 20'000});
}

}  // namespace
}  // namespace aqueduct::conduits::loop
