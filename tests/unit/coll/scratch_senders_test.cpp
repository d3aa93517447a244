#include "coll/algorithms/algorithms.hpp"
#include "coll/schedule/schedule.hpp"
#include "coll/scratch/team_scratch.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace aqueduct::coll {
namespace {

/// [receiver]: who writes to it, by the schedules of all members with the shape's own root.
std::vector<Members> senders_by_schedules(const Algorithm& algorithm, const Shape& shape) {
  std::vector<Members> rows(shape.ranks);
  for (Rank sender = 0; sender < shape.ranks; ++sender) {
    const Schedule schedule(algorithm, shape, sender);
    for (std::uint32_t lane = 0; lane < schedule.lanes(); ++lane) {
      for (std::uint32_t i = 0; i < schedule.length(lane); ++i) {
        const Step step = schedule.step(lane, i);
        // A member that reads from a peer sends it nothing.
        if (step.peer != kNoRank && step.kind != Step::Kind::get) rows[step.peer] |= Members{1} << sender;
      }
    }
  }
  return rows;
}

std::vector<Members> as_positions(const Senders& senders, const Senders::Entry& entry, const Shape& shape) {
  std::vector<Members> rows(shape.ranks);
  const Rank root = Senders::counted_from(shape);
  for (Rank receiver = 0; receiver < shape.ranks; ++receiver)
    rows[absolute(receiver, root, shape.ranks)] = senders.from_root(entry.rows[receiver], root);
  return rows;
}

std::uint64_t steps_of_all(const Algorithm& algorithm, const Shape& shape) {
  std::uint64_t steps = 0;
  for (Rank position = 0; position < shape.ranks; ++position) {
    const Schedule schedule(algorithm, shape, position);
    for (std::uint32_t lane = 0; lane < schedule.lanes(); ++lane) steps += schedule.length(lane);
  }
  return steps;
}

/// Some shapes of every algorithm: more than are kept.
std::vector<std::pair<const Algorithm*, Shape>> many_shapes(Rank ranks) {
  std::vector<std::pair<const Algorithm*, Shape>> out;
  for (const Algorithm* const algorithm : all_algorithms()) {
    for (const Sync mode : {Sync::none, Sync::mine, Sync::all}) {
      for (const std::uint64_t bytes : {1u, 24u, 3u}) {
        for (const Rank root : {Rank{0}, Rank{1}, ranks - 1}) {
          Shape shape{.operation = algorithm->operation};
          shape.in = shape.out = mode;
          shape.ranks = ranks;
          shape.bytes = shape.pitch = bytes;
          if (algorithm->direct) shape.addresses = Addresses::single;
          const bool has_root = shape.operation == Operation::broadcast ||
                                shape.operation == Operation::scatter ||
                                shape.operation == Operation::gather || shape.operation == Operation::reduce;
          if (has_root) shape.root = root;
          // All roots with and without an order.
          shape.commutative = bytes != 24;
          for (std::size_t i = 0; i < algorithm->parameters.size(); ++i)
            shape.parameters[i] = std::max(algorithm->parameters[i].least, 3u);
          if (Schedule::refusal(*algorithm, shape) == nullptr &&
              steps_of_all(*algorithm, shape) <= Senders::kMostRead)
            out.emplace_back(algorithm, shape);
        }
      }
    }
  }
  return out;
}

TEST(Senders, AreThoseOfTheSchedulesWithEveryRoot) {
  for (const Rank ranks : {2u, 3u, 7u, 8u, 30u, 64u}) {
    Senders senders(ranks);
    for (const auto& [algorithm, shape] : many_shapes(ranks)) {
      const Senders::Entry& entry = senders.of(*algorithm, shape);
      EXPECT_EQ(as_positions(senders, entry, shape), senders_by_schedules(*algorithm, shape))
          << algorithm->name << ", " << ranks << " members, root " << shape.root << ", " << shape.bytes
          << " bytes";
    }
  }
}

TEST(Senders, TicketsOutliveWhatTheyPointTo) {
  constexpr Rank kRanks = 7;
  Senders senders(kRanks);
  const auto shapes = many_shapes(kRanks);
  std::vector<Senders::Ticket> tickets(shapes.size());
  for (int turn = 0; turn < 3; ++turn) {
    for (std::size_t i = 0; i < shapes.size(); ++i) {
      const auto& [algorithm, shape] = shapes[i];
      const Senders::Entry& entry = senders.of(*algorithm, shape, tickets[i]);
      EXPECT_EQ(entry.algorithm, algorithm);
      EXPECT_EQ(as_positions(senders, entry, shape), senders_by_schedules(*algorithm, shape));
      EXPECT_EQ(&senders.of(*algorithm, shape, tickets[i]), &entry);
    }
  }
}

TEST(Senders, AreSharedByTeamsOfASize) {
  SharedSenders shared;
  std::shared_ptr<Senders> first = shared.of_team(5, nullptr, nullptr);
  EXPECT_EQ(shared.of_team(5, nullptr, nullptr), first);
  EXPECT_NE(shared.of_team(6, nullptr, nullptr), first);
  const std::weak_ptr<Senders> gone = first;
  first.reset();
  EXPECT_TRUE(gone.expired()) << "the last team of the size has ended";
  EXPECT_NE(shared.of_team(5, nullptr, nullptr), nullptr);
}

TEST(Senders, AreSharedByTeamsWhoseMembersShareHostsAlike) {
  const Groups rows(4, [](Rank i) { return i / 2; });
  const Groups others(4, [](Rank i) { return 7 - i / 2; });  // numbers of hosts are only names
  const Groups columns(4, [](Rank i) { return i % 2; });
  SharedSenders shared;
  const auto first = shared.of_team(4, &rows, nullptr);
  EXPECT_EQ(shared.of_team(4, &others, nullptr), first);
  EXPECT_NE(shared.of_team(4, &columns, nullptr), first);
  EXPECT_NE(shared.of_team(4, nullptr, nullptr), first);
}

TEST(Senders, AreSharedByTeamsWhoseTreesAreAlike) {
  const TeamTree chain(std::vector<Rank>{kNoRank, 0, 1, 2});
  const TeamTree again(std::vector<Rank>{kNoRank, 0, 1, 2});
  const TeamTree flat(std::vector<Rank>{kNoRank, 0, 0, 0});
  SharedSenders shared;
  const auto first = shared.of_team(4, nullptr, &chain);
  EXPECT_EQ(shared.of_team(4, nullptr, &again), first);
  EXPECT_NE(shared.of_team(4, nullptr, &flat), first);
  EXPECT_NE(shared.of_team(4, nullptr, nullptr), first);
}

// Two teams of one size: what one of them has noted in its epoch says nothing about the other's.
TEST(Senders, OfOneTeamAreNotNotedInAnother) {
  constexpr Rank kRanks = 4;
  const ScratchSizes sizes{.banks = 2, .counters = 8, .bytes = 1024};
  const ScratchLayout layout(sizes, kRanks);
  ASSERT_TRUE(layout.clears());
  Shape shape{.operation = Operation::broadcast};
  shape.in = shape.out = Sync::mine;
  shape.ranks = kRanks;
  shape.bytes = shape.pitch = 64;
  const Algorithm& flat = *find_algorithm(Operation::broadcast, "flat");
  shape.parameters[0] = 1;
  const auto senders = std::make_shared<Senders>(kRanks);
  std::vector<std::uint64_t> words(layout.counters());
  TeamScratch one(sizes, kRanks, 1, CounterWords::zeroed(words), senders);
  TeamScratch other(sizes, kRanks, 1, CounterWords::zeroed(words), senders);
  Senders::Ticket of_one, of_other;
  const Needs needs = Schedule::needs(flat, shape);
  EXPECT_EQ(one.open(flat, shape, needs, of_one).senders, Members{1});
  EXPECT_EQ(of_one.noted_roots, Members{1});
  EXPECT_EQ(of_other.noted_roots, Members{0});
  EXPECT_EQ(other.open(flat, shape, needs, of_other).senders, Members{1});
  EXPECT_EQ(of_other.noted_roots, Members{1});
  EXPECT_EQ(of_one.entry, of_other.entry);
}

TEST(Senders, OfAVeryLongOperationAreAll) {
  constexpr Rank kRanks = 40;
  Senders senders(kRanks);
  Shape shape{.operation = Operation::broadcast};
  shape.ranks = kRanks;
  shape.bytes = shape.pitch = 100'000;
  const Algorithm& chain = *find_algorithm(Operation::broadcast, "chain");
  shape.parameters[0] = chain.parameters[0].most;
  ASSERT_GT(steps_of_all(chain, shape), Senders::kMostRead);
  const Senders::Entry& entry = senders.of(chain, shape);
  for (Rank receiver = 0; receiver < kRanks; ++receiver)
    EXPECT_EQ(entry.rows[receiver], senders.all() & ~(Members{1} << receiver));
}

// How elements combine says nothing of who writes to whom, so it must not drive a known operation out.
TEST(Senders, OfOtherTypesAndOperatorsAreTheSame) {
  Senders senders(4);
  const Algorithm& algorithm = *find_algorithm(Operation::all_reduce, "multiplying");
  Shape shape{.operation = Operation::all_reduce};
  shape.ranks = 4;
  shape.element = 8;
  shape.bytes = shape.pitch = 64;
  shape.parameters[0] = 2;
  const std::uint64_t version = senders.of(algorithm, shape).version;
  shape.op = ReduceOp::max;
  shape.type = ElementType::f64;
  EXPECT_EQ(senders.of(algorithm, shape).version, version);
}

}  // namespace
}  // namespace aqueduct::coll
