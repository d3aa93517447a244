// What the members of a team agree on before they choose algorithms.

#include "coll/algorithms/algorithms.hpp"
#include "coll/tune/tuning_table.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace aqueduct::coll {
namespace {

NetworkModel network_of(std::int64_t latency, std::uint64_t per_byte = 80'000) {
  NetworkModel model;
  model.origin = NetworkModel::Origin::profile;
  model.sizes = 2;
  const auto time = [](std::int64_t ps) { return aqueduct::Picoseconds(ps); };
  model.by_size[0] = {0, time(latency), time(200'000), time(50'000), per_byte};
  model.by_size[1] = {4096, time(2 * latency), time(300'000), time(60'000), per_byte + 1};
  model.copy_femtoseconds_per_byte = 5;
  model.reduce_femtoseconds_per_byte = 6;
  return model;
}

Decision decision_of(std::uint64_t bytes, Rank ranks, const Algorithm& algorithm,
                     WantedParameters wanted = {}) {
  Decision one;
  one.key.operation = algorithm.operation;
  one.key.ranks = ranks;
  one.key.size = size_class(bytes);
  one.best = {&algorithm, wanted, 1'234'567};
  one.samples = 40;
  return one;
}

TEST(SizeClass, HasTwoToAnOctave) {
  EXPECT_EQ(size_class(0), 0u);
  EXPECT_EQ(size_class(1), 1u);
  EXPECT_EQ(size_class(1024), size_class(1447));
  EXPECT_EQ(size_class(1448) - size_class(1024), 1u);
  EXPECT_EQ(size_class(2048) - size_class(1024), 2u);
  EXPECT_LT(size_class(~std::uint64_t{0}), kSizeClasses);
}

TEST(SizeClass, RisesWithTheSizeAndBeginsAtItsLeastOne) {
  std::uint32_t before = 0;
  for (std::uint64_t bytes = 0; bytes < 70'000; ++bytes) {
    const std::uint32_t size = size_class(bytes);
    ASSERT_GE(size, before) << bytes;
    if (size != before) {
      ASSERT_EQ(least_bytes_of(size), bytes);
    }
    before = size;
  }
  for (std::uint32_t octave = 17; octave < 64; ++octave) {
    for (const std::uint32_t size : {1 + 2 * octave, 2 + 2 * octave}) {
      EXPECT_EQ(size_class(least_bytes_of(size)), size);
      EXPECT_EQ(size_class(least_bytes_of(size) - 1), size - 1);
    }
  }
}

TEST(TuningTable, TravelsAsWords) {
  Decision two = decision_of(1 << 20, 64, kAllReduceRing, {4, 0, 0});
  two.key.in = Sync::none;
  two.key.out = Sync::mine;
  two.key.addresses = Addresses::single;
  two.key.order = Order::same_everywhere;
  two.key.commutative = false;
  two.key.kind = TeamKind::mapped;
  two.key.element = 16;
  two.key.hosts = 8;
  two.key.crowded = Crowding::yes;
  two.runner_up = {&kAllReduceCirculant, {}, 2'000'000};
  const TuningTable table({network_of(100), network_of(2'000'000)},
                          std::vector{decision_of(8, 3, kBroadcastKNomial, {8, 1, 0}), two});
  const std::vector<std::uint64_t> words = table.words();
  const auto again = TuningTable::from(words);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->words(), words);
  EXPECT_EQ(again->hash(), table.hash());
  ASSERT_EQ(again->decisions().size(), 2u);
  EXPECT_TRUE(std::ranges::equal(again->decisions(), table.decisions()));
  EXPECT_EQ(again->model(false)->at(5000).latency.count(), 4'000'000);
  EXPECT_EQ(again->model(true)->at(0), table.model(true)->at(0));
  EXPECT_EQ(again->model(true)->reduce_femtoseconds_per_byte, 6u);
}

TEST(TuningTable, IsNotMadeOfOtherWords) {
  const TuningTable table({network_of(100), std::nullopt}, std::vector{decision_of(8, 3, kBroadcastKNomial)});
  const std::vector<std::uint64_t> words = table.words();
  for (std::size_t length = 0; length < words.size(); ++length)
    EXPECT_FALSE(TuningTable::from(std::span(words).first(length))) << length;
  std::vector<std::uint64_t> longer = words;
  longer.push_back(0);
  EXPECT_FALSE(TuningTable::from(longer));
  // Any word may hold anything: what comes out is a table or nothing.
  for (std::size_t i = 0; i < words.size(); ++i) {
    for (const std::uint64_t value : {std::uint64_t{0}, std::uint64_t{1} << 63, ~std::uint64_t{0}}) {
      std::vector<std::uint64_t> changed = words;
      changed[i] = value;
      const auto made = TuningTable::from(changed);
      if (!made) continue;
      for (const Decision& one : made->decisions()) EXPECT_NE(one.best.algorithm, nullptr);
    }
  }
}

TEST(TuningTable, HasAnotherHashIfAnythingDiffers) {
  const auto hash = [](std::int64_t latency, std::uint64_t bytes, const Algorithm& algorithm) {
    return TuningTable({std::nullopt, network_of(latency)}, std::vector{decision_of(bytes, 4, algorithm)})
        .hash();
  };
  const std::uint64_t one = hash(10, 8, kAllReduceRing);
  EXPECT_EQ(one, hash(10, 8, kAllReduceRing));
  EXPECT_NE(one, hash(11, 8, kAllReduceRing));
  EXPECT_NE(one, hash(10, 16, kAllReduceRing));
  EXPECT_NE(one, hash(10, 8, kAllReduceCirculant));
  EXPECT_EQ(TuningTable().hash(), 0u);
}

TEST(TuningTable, TakesTheLaterOfTwoDecisionsAndAnyOrder) {
  const std::vector given{decision_of(8, 4, kAllReduceRing), decision_of(64, 4, kAllReduceTree),
                          decision_of(8, 4, kAllReduceCirculant)};
  const TuningTable table({}, given);
  ASSERT_EQ(table.decisions().size(), 2u);
  EXPECT_EQ(table.decisions()[0].best.algorithm, &kAllReduceCirculant);
  EXPECT_EQ(TuningTable({}, std::vector{given[1], given[0], given[2]}).hash(), table.hash());
}

TEST(TuningTable, FindsTheNearestDecisionButNoFarOne) {
  const TuningTable table(
      {}, std::vector{decision_of(1024, 8, kAllReduceRing), decision_of(4096, 8, kAllReduceCirculant),
                      decision_of(1 << 20, 8, kAllReduceHalving)});
  const auto found = [&](std::uint64_t bytes, Rank ranks) -> const Algorithm* {
    const Decision* const one = table.find(decision_of(bytes, ranks, kAllReduceRing).key);
    return one != nullptr ? one->best.algorithm : nullptr;
  };
  EXPECT_EQ(found(1024, 8), &kAllReduceRing);
  EXPECT_EQ(found(1200, 8), &kAllReduceRing);       // its class
  EXPECT_EQ(found(512, 8), &kAllReduceRing);        // an octave away
  EXPECT_EQ(found(3000, 8), &kAllReduceCirculant);  // nearer than the other
  EXPECT_EQ(found(1024, 16), &kAllReduceRing);
  EXPECT_EQ(found(16 << 10, 8), &kAllReduceCirculant);
  EXPECT_EQ(found(64 << 10, 8), nullptr);
  EXPECT_EQ(found(1024, 64), nullptr);
  TuningKey other = decision_of(1024, 8, kAllReduceRing).key;
  other.in = Sync::none;
  EXPECT_EQ(table.find(other), nullptr) << "other modes";
  other = decision_of(1024, 8, kAllReduceRing).key;
  other.kind = TeamKind::mapped;
  EXPECT_EQ(table.find(other), nullptr) << "another kind of team";
}

// What was measured with a processor for each rank says nothing about ranks that wait for one, and the other way about.
TEST(TuningTable, TellsCrowdedTeamsFromOthers) {
  const auto on = [](Crowding crowded, const Algorithm& algorithm, std::uint64_t bytes = 1024) {
    Decision one = decision_of(bytes, 8, algorithm);
    one.key.crowded = crowded;
    return one;
  };
  const auto found = [&](const TuningTable& table, Crowding crowded) -> const Algorithm* {
    const Decision* const one = table.find(on(crowded, kAllReduceRing).key);
    return one != nullptr ? one->best.algorithm : nullptr;
  };
  const TuningTable both({},
                         std::vector{on(Crowding::no, kAllReduceRing), on(Crowding::yes, kAllReduceTree)});
  EXPECT_EQ(found(both, Crowding::no), &kAllReduceRing);
  EXPECT_EQ(found(both, Crowding::yes), &kAllReduceTree);
  const TuningTable with_room({}, std::vector{on(Crowding::no, kAllReduceRing)});
  EXPECT_EQ(found(with_room, Crowding::yes), nullptr);
  const TuningTable without({}, std::vector{on(Crowding::yes, kAllReduceRing, 2048)});
  EXPECT_EQ(found(without, Crowding::no), nullptr) << "not as a near one either";
  EXPECT_EQ(found(without, Crowding::yes), &kAllReduceRing);
  const TuningTable older({}, std::vector{on(Crowding::unknown, kAllReduceHalving)});
  EXPECT_EQ(found(older, Crowding::no), &kAllReduceHalving) << "an older file does not say: it serves both";
  EXPECT_EQ(found(older, Crowding::yes), &kAllReduceHalving);
  // Both are as near.
  const TuningTable again({}, std::vector{on(Crowding::unknown, kAllReduceHalving, 2048),
                                          on(Crowding::no, kAllReduceRing, 2048)});
  EXPECT_EQ(found(again, Crowding::no), &kAllReduceRing) << "measured since, and near";
  EXPECT_EQ(found(again, Crowding::yes), &kAllReduceHalving);
}

TEST(TuningTable, TellsTeamsByTheirHosts) {
  const auto on_hosts = [](Rank ranks, Rank hosts, const Algorithm& algorithm) {
    Decision one = decision_of(1024, ranks, algorithm);
    one.key.hosts = hosts;
    return one;
  };
  const TuningTable table({}, std::vector{on_hosts(16, 16, kAllReduceRing), on_hosts(16, 4, kAllReduceTree),
                                          decision_of(1024, 64, kAllReduceHalving)});
  const auto found = [&](Rank ranks, Rank hosts) -> const Algorithm* {
    const Decision* const one = table.find(on_hosts(ranks, hosts, kAllReduceRing).key);
    return one != nullptr ? one->best.algorithm : nullptr;
  };
  EXPECT_EQ(found(16, 16), &kAllReduceRing);
  EXPECT_EQ(found(16, 4), &kAllReduceTree) << "as many members, on fewer hosts";
  EXPECT_EQ(found(16, 3), &kAllReduceTree) << "nearer to 4 hosts than to 16";
  EXPECT_EQ(found(32, 8), &kAllReduceTree) << "twice as many hosts like those";
  EXPECT_EQ(found(8, 8), &kAllReduceRing);
  EXPECT_EQ(found(64, 2), &kAllReduceHalving) << "an older file does not know its hosts: it serves any";
  EXPECT_EQ(TuningTable({}, std::vector{on_hosts(16, 4, kAllReduceRing), on_hosts(16, 16, kAllReduceRing)})
                .find(on_hosts(16, 1, kAllReduceRing).key)
                ->key.hosts,
            4u);
}

// Those of the lowest keys were cut off, whatever the job.
TEST(TuningTable, LeavesOutWhatIsLeastLikeTheJob) {
  std::vector<Decision> many;
  for (const Rank ranks : {4u, 64u, 7u, 8u}) {
    for (std::uint64_t element = 1; element <= 500; ++element) {
      many.push_back(decision_of(8, ranks, kAllReduceRing));
      many.back().key.element = static_cast<std::uint32_t>(element);
    }
  }
  std::vector<Decision> again{many[0]};
  again[0].best.algorithm = &kAllReduceTree;
  many.insert(many.end(), again.begin(), again.end());
  std::vector<Decision> left = many;
  EXPECT_EQ(leave_out_unlike(8, left), 2000 - TuningTable::kMostDecisions);
  const auto of = [&](Rank ranks) {
    return std::ranges::count(left, ranks, [](const Decision& one) { return one.key.ranks; });
  };
  EXPECT_EQ(of(8), 500);
  EXPECT_EQ(of(7), 500);
  EXPECT_EQ(of(4), 24);
  EXPECT_EQ(of(64), 0);
  left = again;
  left.insert(left.begin(), many.begin(), many.begin() + 2);
  EXPECT_EQ(leave_out_unlike(8, left), 0u);
  ASSERT_EQ(left.size(), 2u);
  EXPECT_EQ(left[0], again[0]) << "the later one of a key";
}

TEST(TuningTable, KeepsNoMoreThanItsMost) {
  std::vector<Decision> many;
  for (Rank ranks = 2; ranks < 3000; ++ranks) many.push_back(decision_of(8, ranks, kAllReduceRing));
  const TuningTable table({}, many);
  EXPECT_EQ(table.decisions().size(), TuningTable::kMostDecisions);
  EXPECT_EQ(table.find(many.back().key)->key, many.back().key) << "the latest ones stay";
  EXPECT_EQ(table.find(many.front().key), nullptr);
}

}  // namespace
}  // namespace aqueduct::coll
