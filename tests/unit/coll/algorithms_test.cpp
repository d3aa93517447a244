#include "coll/algorithms/algorithms.hpp"
#include "coll/schedule/schedule.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

namespace aqueduct::coll {
namespace {

/// Shapes of many members, each parameter at an end of its range.
template <class Visit>
void for_each_large_shape(const Algorithm& algorithm, Visit visit) {
  for (const Rank ranks : {2u, 64u, 129u, 231u, 1000u, 32'768u}) {
    for (std::uint32_t corner = 0; corner < 1u << algorithm.parameters.size(); ++corner) {
      Shape shape;
      shape.operation = algorithm.operation;
      shape.addresses = Addresses::single;
      shape.ranks = ranks;
      shape.root = ranks - 1;
      shape.element = 4;
      shape.bytes = shape.pitch = 4096;
      for (std::size_t i = 0; i < algorithm.parameters.size(); ++i) {
        const Parameter& parameter = algorithm.parameters[i];
        shape.parameters[i] = (corner >> i & 1) != 0 ? parameter.most : parameter.least;
      }
      for (const Sync mode : {Sync::none, Sync::mine, Sync::all}) {
        shape.in = shape.out = mode;
        visit(shape);
      }
    }
  }
}

TEST(Algorithms, HaveNamesThatTellThemApart) {
  std::set<std::pair<Operation, std::string>> names;
  for (const Algorithm* const algorithm : all_algorithms()) {
    EXPECT_TRUE(names.emplace(algorithm->operation, algorithm->name).second) << algorithm->name;
    EXPECT_EQ(find_algorithm(algorithm->operation, algorithm->name), algorithm);
  }
}

// Counters are leased from a few hundred: an algorithm that needs more refuses, and says why.
TEST(Algorithms, NeedFewCountersOrRefuse) {
  for (const Algorithm* const algorithm : all_algorithms()) {
    for_each_large_shape(*algorithm, [&](const Shape& shape) {
      if (const char* const reason = Schedule::refusal(*algorithm, shape)) {
        EXPECT_GT(std::string(reason).size(), 10u);
        return;
      }
      EXPECT_LE(Schedule::needs(*algorithm, shape).counters, 256u)
          << algorithm->name << " of operation " << static_cast<int>(shape.operation) << ", " << shape.ranks
          << " members";
    });
  }
}

// What the root of a reduction among eight members waits for before each step that combines.
TEST(Algorithms, CombineLongBlocksAsTheyCome) {
  for (const Algorithm* const algorithm : {&kReduceKNomial, &kAllReduceTree, &kReduceFlat}) {
    for (const std::uint64_t bytes : {64u, 4096u}) {
      Shape shape;
      shape.operation = algorithm->operation;
      shape.ranks = 8;
      shape.element = 8;
      shape.bytes = shape.pitch = bytes;
      shape.parameters[0] = algorithm->parameters.empty() ? 0 : 2;
      shape.in = shape.out = Sync::none;
      const Schedule root(*algorithm, shape, 0);
      std::set<Counter> waits;
      std::uint32_t combined = 0;
      for (std::uint32_t i = 0; i < root.length(0); ++i) {
        const Step step = root.step(0, i);
        if (step.kind != Step::Kind::reduce) continue;
        ++combined;
        if (step.wait_for != kNoCounter) waits.insert(step.wait_for);
      }
      EXPECT_GE(combined, 3u) << algorithm->name;
      EXPECT_EQ(waits.size(), bytes == 64 ? 1 : combined) << algorithm->name << ' ' << bytes;
    }
  }
}

// With long blocks, a member that is late holds only those that are served after it.
TEST(Algorithms, ServeMembersThatAreReadyEarly) {
  for (const Algorithm* const algorithm :
       {&kScatterDirect, &kBroadcastDirect, &kAllGatherDirect, &kAllToAllDirect}) {
    Shape shape;
    shape.operation = algorithm->operation;
    shape.addresses = Addresses::single;
    shape.ranks = 8;
    shape.element = 8;
    shape.bytes = shape.pitch = 4096;
    shape.parameters[0] = algorithm->parameters.empty() ? 0 : 2;
    shape.in = Sync::mine;
    shape.out = Sync::none;
    const Schedule root(*algorithm, shape, 0);
    std::set<Counter> waits;
    std::uint32_t puts = 0;
    for (std::uint32_t i = 0; i < root.length(0); ++i) {
      const Step step = root.step(0, i);
      if (step.kind != Step::Kind::put) continue;
      ++puts;
      EXPECT_EQ(step.wait_until, 1u) << algorithm->name;
      waits.insert(step.wait_for);
    }
    EXPECT_GE(puts, 3u);
    EXPECT_EQ(waits.size(), puts) << static_cast<int>(algorithm->operation);
  }
}

// Steps are random access: the middle of a long schedule is as near as its beginning.
TEST(Algorithms, HaveTheStepsOfTensOfThousandsOfMembers) {
  for (const Algorithm* const algorithm : all_algorithms()) {
    for_each_large_shape(*algorithm, [&](const Shape& shape) {
      if (shape.ranks < 1000 || Schedule::refusal(*algorithm, shape) != nullptr) return;
      const Needs needs = Schedule::needs(*algorithm, shape);
      for (const Rank position : {0u, 1u, shape.ranks / 2 + 1, shape.ranks - 1}) {
        const Schedule schedule(*algorithm, shape, position);
        const std::uint32_t length = schedule.length(0);
        for (std::uint32_t i = 0; i < length; i += 1 + length / 16) {
          const Step step = schedule.step(0, i);
          if (step.peer != kNoRank) {
            EXPECT_LT(step.peer, shape.ranks) << algorithm->name;
            EXPECT_NE(step.peer, position) << algorithm->name;
          }
          if (step.to.space == Space::scratch) {
            EXPECT_LE(step.to.offset + (step.runs - 1) * step.to.pitch + step.bytes, needs.scratch)
                << algorithm->name;
          }
        }
      }
    });
  }
}

// A replay asks for briefs, of which the algorithms have functions of their own.
TEST(Algorithms, HaveBriefsThatSayWhatTheirStepsDo) {
  int compared = 0;
  for (const Algorithm* const algorithm : all_algorithms()) {
    const auto compare = [&](const Shape& shape) {
      if (shape.ranks > 231 || Schedule::refusal(*algorithm, shape) != nullptr) return;
      const TeamSchedule schedule(*algorithm, shape);
      for (Rank position = 0; position < shape.ranks; position += 1 + position / 8) {
        for (std::uint32_t lane = 0; lane < schedule.lanes(position); ++lane) {
          const TeamSchedule::Lengths lengths = schedule.lengths(position, lane);
          for (std::uint32_t i = 0; i < lengths.all; i += 1 + i / 64) {
            ASSERT_EQ(schedule.brief(position, lane, i, lengths),
                      brief_of(schedule.step(position, lane, i, lengths)))
                << algorithm->name << " of operation " << static_cast<int>(shape.operation) << ", "
                << shape.ranks << " members: " << position << ", lane " << lane << ", step " << i;
            ++compared;
          }
        }
      }
    };
    for_each_large_shape(*algorithm, compare);
  }
  EXPECT_GT(compared, 10'000);
}

TEST(Algorithms, HaveNotesThatGiveTheSameSteps) {
  int compared = 0;
  for (const Algorithm* const algorithm : all_algorithms()) {
    if (algorithm->noted == nullptr) continue;
    const auto compare = [&](const Shape& shape) {
      if (shape.ranks > 1000 || Schedule::refusal(*algorithm, shape) != nullptr) return;
      const TeamSchedule plain(*algorithm, shape);
      std::vector<std::int8_t> notes(TeamSchedule::notes(*algorithm, shape));
      TeamSchedule noted(*algorithm, shape);
      noted.take_notes(notes);
      for (Rank position = 0; position < shape.ranks; position += 1 + position / 8) {
        const TeamSchedule::Lengths lengths = plain.lengths(position, 0);
        for (std::uint32_t i = 0; i < lengths.all; ++i) {
          const Step step = plain.step(position, 0, i, lengths);
          ASSERT_EQ(noted.step(position, 0, i, lengths), step)
              << algorithm->name << ", " << shape.ranks << " members: " << position << ", step " << i;
          ASSERT_EQ(noted.brief(position, 0, i, lengths), brief_of(step));
          ++compared;
        }
      }
    };
    for_each_large_shape(*algorithm, compare);
  }
  EXPECT_GT(compared, 10'000);
}

// An operator that is not commutative, and vectors combined in order, have an algorithm in every team.
TEST(Algorithms, ServeEveryReduction) {
  for (const Operation operation : {Operation::reduce, Operation::all_reduce, Operation::reduce_scatter,
                                    Operation::scan, Operation::exscan}) {
    for (const Rank ranks : {1u, 2u, 7u, 1000u}) {
      for (const Order order : {Order::any, Order::same_everywhere, Order::exact}) {
        Shape shape;
        shape.operation = operation;
        shape.ranks = ranks;
        shape.root = ranks / 2;
        shape.order = order;
        shape.commutative = false;
        shape.bytes = shape.pitch = 64;
        int serving = 0;
        for (const Algorithm* const algorithm : all_algorithms()) {
          for (std::size_t i = 0; i < algorithm->parameters.size(); ++i)
            shape.parameters[i] = algorithm->parameters[i].usual;
          serving += Schedule::refusal(*algorithm, shape) == nullptr ? 1 : 0;
        }
        EXPECT_GT(serving, 0) << "operation " << static_cast<int>(operation) << ", " << ranks << " members";
      }
    }
  }
}

struct KnownCost {
  Operation operation;
  const char* name;
  std::uint32_t parameter;
  std::uint64_t messages;
  std::uint64_t blocks;
  std::uint32_t depth;
};

// The formulas of the literature for 16 members, worked out by hand: what an algorithm says of itself is not enough.
TEST(Algorithms, CostWhatTheLiteratureSays) {
  constexpr std::uint32_t kP = 16;
  constexpr std::uint32_t kLog = 4;
  const KnownCost known[] = {
      {Operation::broadcast, "circulant", 8, 8 * (kP - 1), kP - 1, 8 - 1 + kLog},
      {Operation::broadcast, "double-tree", 8, 8 * (kP - 1), kP - 1, kLog},
      {Operation::broadcast, "get", 2, 2 * 4 * (kP - 1), kP - 1, 2 * kLog},
      {Operation::scatter, "k-nomial", 2, kP - 1, kP / 2 * kLog, kLog},
      {Operation::gather, "k-nomial", 2, kP - 1, kP / 2 * kLog, kLog},
      {Operation::scatter, "k-ary", 2, kP - 1, 38, 4},
      {Operation::gather, "k-ary", 2, kP - 1, 38, 4},
      {Operation::scatter, "direct", 0, kP - 1, kP - 1, 1},
      {Operation::gather, "direct", 0, kP - 1, kP - 1, 1},
      {Operation::all_gather, "bruck", 2, kP * kLog, kP * (kP - 1), kLog},
      {Operation::all_gather, "circulant", 0, kP * kLog, kP * (kP - 1), kLog},
      {Operation::all_gather, "doubling", 0, kP * kLog, kP * (kP - 1), kLog},
      {Operation::all_gather, "ring", 0, kP * (kP - 1), kP * (kP - 1), kP - 1},
      {Operation::all_gather, "neighbours", 0, kP * (kP / 2), kP * (kP - 1), kP / 2},
      {Operation::all_to_all, "direct", 0, kP * (kP - 1), kP * (kP - 1), 1},
      {Operation::scatter, "windowed", 4, kP - 1, kP - 1, 1},
      {Operation::gather, "windowed", 4, 2 * (kP - 1), kP - 1, 2 * 4},
      {Operation::scatter, "get", 0, kP - 1, kP - 1, 1},
      {Operation::gather, "get", 0, kP - 1, kP - 1, 1},
      {Operation::all_gather, "get", 0, 2 * kP * (kP - 1), kP * (kP - 1), 2},
      {Operation::all_to_all, "get", 0, kP * (kP - 1), kP * (kP - 1), 1},
      {Operation::all_to_all, "windowed", 4, kP * (kP - 1), kP * (kP - 1), 4},
      {Operation::all_to_all, "pairwise", 4, kP * (kP - 1), kP * (kP - 1), 4},
      {Operation::all_to_all, "pairwise", 1, kP * (kP - 1), kP * (kP - 1), kP - 1},
      {Operation::all_to_all, "bruck", 2, kP * kLog, kP * (kP / 2) * kLog, kLog},
      {Operation::all_to_all, "bruck", 4, kP * 3 * 2, kP * (kP * 3 / 4) * 2, 2},
      {Operation::reduce, "k-nomial", 2, kP - 1, kP - 1, kLog},
      {Operation::reduce, "k-ary", 2, kP - 1, kP - 1, kLog},
      {Operation::reduce, "fork", 4, kP - 1, kP - 1, 3 + 3},
      {Operation::reduce, "chain", 8, 8 * (kP - 1), kP - 1, kP - 1},
      {Operation::reduce, "flat", 0, kP - 1, kP - 1, 1},
      {Operation::reduce, "halving", 0, kP * kLog + kP - 1, kP - 1 + kLog / 2, 2 * kLog},
      {Operation::all_reduce, "multiplying", 2, kP * kLog, kP * kLog, kLog},
      {Operation::all_reduce, "tree", 2, 2 * (kP - 1), 2 * (kP - 1), 2 * kLog},
      {Operation::all_reduce, "circulant", 0, 2 * kP * kLog, 2 * (kP - 1), 2 * kLog},
      {Operation::all_reduce, "halving", 0, 2 * kP * kLog, 2 * (kP - 1), 2 * kLog},
      {Operation::all_reduce, "ring", 1, 2 * kP * (kP - 1), 2 * (kP - 1), 2 * (kP - 1)},
      {Operation::all_reduce, "double-tree", 8, 8 * 2 * (kP - 1), 2 * (kP - 1), 2 * kLog},
      {Operation::all_reduce, "direct", 0, kP * (kP - 1), kP * (kP - 1), 1},
      {Operation::all_reduce, "parts", 0, 2 * kP * (kP - 1), 2 * (kP - 1), 2},
      {Operation::reduce_scatter, "circulant", 0, kP * kLog, kP * (kP - 1), kLog},
      {Operation::reduce_scatter, "halving", 0, kP * kLog, kP * (kP - 1), kLog},
      {Operation::reduce_scatter, "pairwise", 1, kP * (kP - 1), kP * (kP - 1), kP - 1},
      {Operation::reduce_scatter, "direct", 0, kP * (kP - 1), kP * (kP - 1), 1},
      {Operation::scan, "doubling", 0, 15 + 14 + 12 + 8, 15 + 14 + 12 + 8, kLog},
      {Operation::scan, "chain", 8, 8 * (kP - 1), kP - 1, kP - 1},
  };
  for (const KnownCost& row : known) {
    Shape shape;
    shape.operation = row.operation;
    shape.addresses = Addresses::single;
    shape.in = shape.out = Sync::none;
    shape.ranks = kP;
    shape.bytes = shape.pitch = 1600;
    shape.parameters = {row.parameter, 4, 1};  // of a mesh: rows in a plane
    const Algorithm* const algorithm = find_algorithm(row.operation, row.name);
    ASSERT_NE(algorithm, nullptr) << row.name;
    ASSERT_EQ(Schedule::refusal(*algorithm, shape), nullptr) << row.name;
    const Cost cost = Schedule::cost(*algorithm, shape);
    const std::string what =
        std::string(row.name) + " of operation " + std::to_string(static_cast<int>(row.operation));
    EXPECT_EQ(cost.messages, row.messages) << what;
    EXPECT_EQ(cost.bytes, row.blocks * shape.bytes) << what;
    EXPECT_EQ(cost.depth, row.depth) << what;
  }
}

// So more gathers fit into a bank, and fewer messages say that one is free.
TEST(Algorithms, GathersUpATreeNeedNoScratchForTheRootsBlock) {
  Shape shape{.operation = Operation::gather};
  shape.ranks = 4;
  shape.in = shape.out = Sync::mine;
  shape.bytes = shape.pitch = 1024;
  for (const std::uint32_t radix : {2u, 4u}) {
    shape.parameters[0] = radix;
    EXPECT_EQ(Schedule::needs(kGatherKNomial, shape).scratch, 3 * 1024u) << "radix " << radix;
    EXPECT_EQ(Schedule::needs(kGatherKAry, shape).scratch, 3 * 1024u) << "radix " << radix;
  }
}

}  // namespace
}  // namespace aqueduct::coll
