#include "coll/algorithms/algorithms.hpp"
#include "coll/schedule/schedule.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>

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

}  // namespace
}  // namespace aqueduct::coll
