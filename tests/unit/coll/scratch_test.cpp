#include "coll/algorithms/algorithms.hpp"
#include "tools/aqcheck/scratch_world.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <map>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace aqueduct::coll {
namespace {

using aqcheck::Manner;
using aqcheck::ScratchWorld;
using Call = aqcheck::ScratchCall;
using Counted = aqcheck::ScratchCounted;
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
    if (shape.operation == Operation::broadcast || shape.operation == Operation::scatter ||
        shape.operation == Operation::gather || shape.operation == Operation::reduce)
      shape.root = below(random, ranks);
    if (Schedule::refusal(*call.algorithm, shape) == nullptr &&
        layout.refusal(Schedule::needs(*call.algorithm, shape)) == nullptr)
      return call;
  }
}

/// Random calls, among them some that come again and again.
std::vector<Call> random_calls(Random& random, Rank ranks, const ScratchSizes& sizes, std::size_t count,
                               std::uint64_t most_bytes) {
  std::vector<Call> calls;
  std::vector<std::size_t> firsts;
  while (calls.size() < count) {
    const std::uint32_t dice = below(random, 16);
    if (!firsts.empty() && dice < 8) {
      const std::size_t first = firsts[below(random, firsts.size())];
      Call call = calls[first];
      call.kind = Call::Kind::again;
      call.first = first;
      calls.push_back(call);
    } else {
      if (dice == 8 && firsts.size() < 4) firsts.push_back(calls.size());
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
  for (std::uint64_t seed = 1; seed <= 120; ++seed) {
    const Ran ran = random_run(seed, seed % 2 == 0, 0);
    ASSERT_EQ(ran.failure, "") << "seed " << seed;
    all.data += ran.counted.data;
    all.control += ran.counted.control;
    all.barrier += ran.counted.barrier;
    all.epochs += ran.counted.epochs;
    all.again += ran.counted.again;
  }
  // That the runs have seen what they are for.
  EXPECT_GT(all.epochs, 120u * 8);
  EXPECT_GT(all.control - all.barrier, 1000u);
  EXPECT_GT(all.barrier, 1000u);
  EXPECT_GT(all.again, 1000u);
}

TEST(Scratch, FailsIfABankIsReusedOneEpochTooEarly) {
  int failed = 0;
  constexpr int kRuns = 60;
  for (std::uint64_t seed = 1; seed <= kRuns; ++seed) {
    ASSERT_EQ(random_run(seed, true, 0).failure, "") << "seed " << seed;
    failed += random_run(seed, true, 1).failure.empty() ? 0 : 1;
  }
  EXPECT_GE(failed, kRuns * 9 / 10);
}

/// Calls with many short blocks and few long ones, for scratch of the default size.
std::vector<Call> usual_calls(Rank ranks, std::size_t count) {
  Random random(ranks);
  std::vector<Call> calls;
  while (calls.size() < count)
    calls.push_back(random_operation(random, ranks, {}, below(random, 32) == 0 ? 12000 : 64));
  return calls;
}

Manner usual_manner(Rank ranks) {
  Manner manner;
  manner.keep_going = ranks;
  return manner;
}

/// An operation with usual parameters and Sync::none.
Call loose_operation(Operation operation, std::string_view name, Rank ranks, std::uint64_t bytes) {
  Call call;
  call.algorithm = find_algorithm(operation, name);
  call.shape.operation = operation;
  call.shape.in = call.shape.out = Sync::none;
  call.shape.ranks = ranks;
  call.shape.bytes = call.shape.pitch = bytes;
  for (std::size_t i = 0; i < call.algorithm->parameters.size(); ++i)
    call.shape.parameters[i] = call.algorithm->parameters[i].usual;
  return call;
}

TEST(Scratch, SendsAtMostOneControlMessageForTenOfData) {
  for (const auto& [ranks, count] : {std::pair{2u, 1000u}, {3u, 1000u}, {5u, 10'000u}, {16u, 400u}}) {
    const Ran ran = run(ranks, usual_manner(ranks), usual_calls(ranks, count), 1);
    ASSERT_EQ(ran.failure, "") << ranks << " members";
    EXPECT_GT(ran.counted.epochs, count / 100) << ranks << " members";
    EXPECT_LE(ran.counted.control * 10, ran.counted.data) << ranks << " members";
  }
}

TEST(Scratch, SendsNoControlMessageWithinAnEpoch) {
  for (const Rank ranks : {2u, 5u, 9u}) {
    Random random(ranks);
    Manner manner = usual_manner(ranks);
    manner.sizes = {.banks = 2, .counters = 5000, .bytes = 512 << 10};
    std::vector<Call> calls;
    while (calls.size() < 200) calls.push_back(random_operation(random, ranks, {}, 64));
    const Ran ran = run(ranks, manner, calls, 2);
    ASSERT_EQ(ran.failure, "");
    EXPECT_EQ(ran.counted.epochs, 0u);
    EXPECT_GT(ran.counted.data, 500u);
    EXPECT_EQ(ran.counted.control, 0u);
  }
}

TEST(Scratch, SendsOneClearForEachWriterAndEpoch) {
  constexpr Rank kRanks = 6;
  Manner manner = usual_manner(kRanks);
  manner.sizes = {.banks = 2, .counters = 1000, .bytes = 640};
  // In each operation every member but the root has one member that writes to it; ten fit into a bank.
  const Ran ran = run(kRanks, manner,
                      std::vector<Call>(400, loose_operation(Operation::broadcast, "flat", kRanks, 64)), 3);
  ASSERT_EQ(ran.failure, "");
  EXPECT_EQ(ran.counted.epochs, 39u);
  EXPECT_EQ(ran.counted.control, 39u * (kRanks - 1));
  EXPECT_EQ(ran.counted.barrier, 0u);
}

TEST(Scratch, UsesABarrierWhereClearsWouldBeMore) {
  constexpr Rank kRanks = 9;
  Manner manner = usual_manner(kRanks);
  manner.sizes = {.banks = 3, .counters = 10, .bytes = 64};
  const Ran ran =
      run(kRanks, manner,
          std::vector<Call>(200, loose_operation(Operation::barrier, "dissemination", kRanks, 0)), 4);
  ASSERT_EQ(ran.failure, "");
  EXPECT_EQ(ran.counted.barrier, 0u)
      << "each member has four that write to it: as many messages as a barrier";

  Call direct = loose_operation(Operation::all_gather, "direct", kRanks, 8);
  direct.shape.addresses = Addresses::single;
  const Ran other = run(kRanks, manner, std::vector<Call>(200, direct), 4);
  ASSERT_EQ(other.failure, "");
  EXPECT_EQ(other.counted.control, other.counted.barrier);
  EXPECT_EQ(other.counted.barrier, other.counted.epochs * kRanks * 4);
}

TEST(Scratch, ForgetsThoseThatWriteNoMore) {
  constexpr Rank kRanks = 6;
  Manner manner = usual_manner(kRanks);
  manner.sizes = {.banks = 2, .counters = 1000, .bytes = 640};
  std::vector<Call> calls(400, loose_operation(Operation::broadcast, "flat", kRanks, 64));
  for (std::size_t i = 200; i < calls.size(); ++i) calls[i].shape.root = 1;
  const Ran ran = run(kRanks, manner, calls, 3);
  ASSERT_EQ(ran.failure, "");
  EXPECT_EQ(ran.counted.epochs, 39u);
  EXPECT_GE(ran.counted.control, 39u * (kRanks - 1));
  EXPECT_LE(ran.counted.control, 41u * (kRanks - 1)) << "the second root is told when it begins";
}

TEST(Scratch, ChoosesBarrierOrClearsForEachEpoch) {
  constexpr Rank kRanks = 9;
  Manner manner = usual_manner(kRanks);
  manner.sizes = {.banks = 3, .counters = 10, .bytes = 640};
  Call direct = loose_operation(Operation::all_gather, "direct", kRanks, 8);
  direct.shape.addresses = Addresses::single;
  std::vector<Call> calls(30, direct);  // three in an epoch, since each has three counters
  calls.resize(200, loose_operation(Operation::broadcast, "flat", kRanks, 8));
  const Ran ran = run(kRanks, manner, calls, 4);
  ASSERT_EQ(ran.failure, "");
  EXPECT_EQ(ran.counted.barrier, 10u * kRanks * 4);
  EXPECT_GT(ran.counted.control, ran.counted.barrier);
}

TEST(Scratch, ServesTeamsOfAnySize) {
  for (const Rank ranks : {1u, 33u, 64u, 65u}) {
    Manner manner = usual_manner(8);
    manner.sizes = {.banks = 2, .counters = 64, .bytes = 2048};
    Random random(ranks);
    const Ran ran = run(ranks, manner, random_calls(random, ranks, manner.sizes, 40, 16), 5);
    ASSERT_EQ(ran.failure, "") << ranks << " members";
    EXPECT_TRUE(ranks == 1 || ran.counted.epochs > 2);
    EXPECT_TRUE(ranks <= kMostCleared || ran.counted.control == ran.counted.barrier);
  }
}

TEST(Scratch, ServesOperationsOfThousandsOfSteps) {
  constexpr Rank kRanks = 16;
  Call chain = loose_operation(Operation::broadcast, "chain", kRanks, 200);
  chain.shape.parameters[0] = 100;
  Manner manner = usual_manner(kRanks);
  manner.sizes = {.banks = 2, .counters = 256, .bytes = 512};
  std::vector<Call> calls;
  for (int i = 0; i < 24; ++i)
    calls.push_back(i % 2 == 0 ? chain : loose_operation(Operation::broadcast, "flat", kRanks, 200));
  // Nobody reads 3000 steps: the chain counts as one in which all write to all, so its epochs end by barriers.
  const Ran ran = run(kRanks, manner, calls, 6);
  ASSERT_EQ(ran.failure, "");
  EXPECT_GT(ran.counted.epochs, 4u);
  EXPECT_LE(ran.counted.control * 10, ran.counted.data);
}

TEST(Scratch, PeersDependOnBytesOnlyThroughLengths) {
  for (const Algorithm* const algorithm : all_algorithms()) {
    for (const Rank ranks : {2u, 5u, 8u, 13u}) {
      for (std::uint32_t radix = 2; radix <= 5; ++radix) {
        Call call = loose_operation(algorithm->operation, algorithm->name, ranks, 0);
        if (!algorithm->parameters.empty()) call.shape.parameters[0] = radix;
        if (algorithm->direct) call.shape.addresses = Addresses::single;
        std::map<std::vector<std::uint32_t>, std::vector<Rank>> peers_of;  // [lengths]
        for (const std::uint64_t bytes : {0u, 1u, 2u, 3u, 5u, 8u, 17u, 64u, 1000u, 4096u}) {
          call.shape.bytes = call.shape.pitch = bytes;
          if (Schedule::refusal(*algorithm, call.shape) != nullptr) continue;
          std::vector<std::uint32_t> lengths;
          std::vector<Rank> peers;
          for (Rank position = 0; position < ranks; ++position) {
            const Schedule schedule(*algorithm, call.shape, position);
            for (std::uint32_t lane = 0; lane < schedule.lanes(); ++lane) {
              lengths.push_back(schedule.length(lane));
              for (std::uint32_t i = 0; i < schedule.length(lane); ++i)
                peers.push_back(schedule.step(lane, i).peer);
            }
          }
          EXPECT_EQ(peers_of.emplace(lengths, peers).first->second, peers)
              << algorithm->name << ", " << ranks << " members, " << bytes << " bytes";
        }
      }
    }
  }
}

}  // namespace
}  // namespace aqueduct::coll
