#include "tests/unit/coll/scratch_world.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <set>
#include <string>
#include <tuple>
#include <vector>

namespace aqueduct::coll {
namespace {

using Random = std::mt19937_64;

std::uint32_t below(Random& random, std::uint64_t limit) {
  return static_cast<std::uint32_t>(random() % limit);
}

/// An operation of any kind, root, radix, direction and sync mode, for which the scratch is large enough.
Call random_operation(Random& random, Rank ranks, const ScratchSizes& sizes, std::uint64_t most_bytes) {
  const ScratchLayout layout(sizes, ranks);
  const ScratchBanks banks(layout);
  while (true) {
    Call call;
    call.algorithm = all_algorithms()[below(random, all_algorithms().size())];
    Shape& shape = call.shape;
    shape.operation = call.algorithm->operation;
    shape.ranks = ranks;
    for (std::size_t i = 0; i < call.algorithm->parameters.size(); ++i) {
      const Parameter& parameter = call.algorithm->parameters[i];
      const std::uint32_t most = std::min(parameter.most, std::max(parameter.least, ranks + 1));
      shape.parameters[i] = parameter.least + below(random, most - parameter.least + 1);
    }
    shape.addresses = call.algorithm->direct ? Addresses::single : Addresses::local;
    shape.in = static_cast<Sync>(below(random, 3));
    shape.out = static_cast<Sync>(below(random, 3));
    if (shape.operation != Operation::barrier)
      shape.bytes = random() % (below(random, 8) == 0 ? 2 : most_bytes + 1);
    shape.pitch = shape.bytes;
    if (shape.operation == Operation::broadcast) shape.root = below(random, ranks);
    if (Schedule::refusal(*call.algorithm, shape) == nullptr &&
        banks.refusal(Schedule::needs(*call.algorithm, shape)) == nullptr)
      return call;
  }
}

/// Calls with plans among them: some are bound, started many times, and ended.
std::vector<Call> random_calls(Random& random, Rank ranks, const ScratchSizes& sizes, std::size_t count,
                               std::uint64_t most_bytes) {
  std::vector<Call> calls;
  std::vector<std::size_t> plans;
  while (calls.size() < count) {
    const std::uint32_t dice = below(random, 16);
    if (sizes.leased_bytes > 0 && dice == 0 && plans.size() < 4) {
      plans.push_back(calls.size());
      calls.push_back(random_operation(random, ranks, sizes, most_bytes));
      calls.back().kind = Call::Kind::bind;
    } else if (!plans.empty() && dice < 8) {
      const std::size_t which = below(random, plans.size());
      Call call = calls[plans[which]];
      call.plan = plans[which];
      call.kind = dice == 1 ? Call::Kind::end : Call::Kind::start;
      calls.push_back(call);
      if (dice == 1) plans.erase(plans.begin() + which);
    } else {
      calls.push_back(random_operation(random, ranks, sizes, most_bytes));
    }
  }
  return calls;
}

struct Ran {
  std::string failure;  ///< empty if all went well
  Counted counted;
};

Ran run(Rank ranks, const Manner& manner, const std::vector<Call>& calls, std::uint64_t seed) {
  try {
    return {"", ScratchWorld(ranks, manner, calls, seed).run()};
  } catch (const std::exception& violation) {
    return {violation.what(), {}};
  }
}

/// Small banks, a random team, and random calls. `loose`: nobody waits for others more than the data demands, and every
/// few operations there is another epoch.
Ran random_run(std::uint64_t seed, bool loose, std::uint32_t reuse_more) {
  Random random(seed);
  const Rank ranks = (loose ? 3 : 2) + below(random, 8);
  Manner manner;
  manner.sizes = {.banks = 2 + below(random, loose ? 2 : 3),
                  .counters = 24 + below(random, 40),
                  .bytes = 64 * (2 + below(random, 12))};
  if (!loose && below(random, 2) == 0) {
    manner.sizes.leased_bytes = 64 * below(random, 40);
    manner.sizes.leased_counters = below(random, 100);
  }
  manner.window = !loose && below(random, 3) == 0 ? 1 : 1 + below(random, 12);
  manner.keep_going = 1 + below(random, 12);
  if (loose) manner.window += 6;
  if (loose || below(random, 3) == 0) manner.late = below(random, ranks);
  if (reuse_more > 0) manner.reuse = manner.sizes.banks + reuse_more;
  std::vector<Call> calls = random_calls(random, ranks, manner.sizes, loose ? 150 : 80, 300);
  if (loose) {
    for (Call& call : calls) call.shape.in = call.shape.out = Sync::none;
  }
  return run(ranks, manner, calls, seed);
}

TEST(Scratch, HasNoOverlapAndNoHangInRandomPrograms) {
  Counted all;
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    const Ran ran = random_run(seed, seed % 2 == 0, 0);
    ASSERT_EQ(ran.failure, "") << "seed " << seed;
    all.data += ran.counted.data;
    all.control += ran.counted.control;
    all.barrier += ran.counted.barrier;
    all.epochs += ran.counted.epochs;
    all.on_leases += ran.counted.on_leases;
  }
  // That the runs have seen what they are for.
  EXPECT_GT(all.epochs, 400u * 8);
  EXPECT_GT(all.control - all.barrier, 1000u);
  EXPECT_GT(all.barrier, 1000u);
  EXPECT_GT(all.on_leases, 400u);
}

TEST(Scratch, FailsIfABankIsReusedOneEpochTooEarly) {
  int failed = 0;
  constexpr int kRuns = 60;
  for (std::uint64_t seed = 1; seed <= kRuns; ++seed) failed += random_run(seed, true, 1).failure.empty() ? 0 : 1;
  EXPECT_GE(failed, kRuns * 9 / 10);
}

}  // namespace
}  // namespace aqueduct::coll
