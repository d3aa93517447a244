// Choices for large teams: links that messages may share, and replays that follow one member.

#include "coll/algorithms/algorithms.hpp"
#include "coll/algorithms/symmetric.hpp"
#include "coll/model/narrow_links.hpp"
#include "coll/tune/narrow_ranking.hpp"
#include "coll/tune/table.hpp"
#include "coll/tune/tuned_chooser.hpp"
#include "coll/tune/tuning_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace aqueduct::coll {
namespace {

using testing::HasSubstr;

constexpr LogGP kLink{.latency = 1000, .overhead = 10, .gap = 5, .femtoseconds_per_byte = 100'000};

NetworkModel measured(NetworkModel::Origin origin) {
  NetworkModel model;
  model.origin = origin;
  const auto time = [](std::int64_t ns) { return aqueduct::Picoseconds(ns * 1000); };
  model.by_size[0] = {0, time(2000), time(400), time(100), 80'000};
  model.reduce_femtoseconds_per_byte = 200'000;
  return model;
}

TuningTable table_of(NetworkModel::Origin origin) { return {{measured(origin), measured(origin)}, {}}; }

Shape call_of(Operation operation, Rank ranks, std::uint64_t bytes) {
  Shape shape;
  shape.operation = operation;
  shape.ranks = ranks;
  shape.element = 8;
  shape.bytes = shape.pitch = bytes;
  return shape;
}

TeamTraits over_network(Rank ranks) { return {.ranks = ranks, .one_host = false, .mapped = false}; }

/// So much scratch that nothing is cut into pieces.
ScratchLayout ample(Rank ranks) {
  return ScratchLayout({.banks = 2, .counters = 65535, .bytes = std::uint64_t{1} << 40}, ranks);
}

std::vector<Ranked> ranking_of(const Shape& shape, NetworkModel::Origin origin) {
  const TeamTraits team = over_network(shape.ranks);
  return rank(key_of(shape, team), table_of(origin), team, ample(shape.ranks)).all;
}

TEST(NarrowLinks, AreSharedByMessagesBetweenTheSameGroupsAlone) {
  NarrowLinks links(100, 1);  // ten groups
  links.begin();
  EXPECT_EQ(links.arrival(0, 3, 7, 50, kLink), 1000u);
  EXPECT_EQ(links.arrival(0, 4, 7, 50, kLink), 1000u) << "in one group";
  EXPECT_EQ(links.arrival(0, 3, 17, 50, kLink), 1000u);
  EXPECT_EQ(links.arrival(0, 4, 18, 50, kLink), 6000u) << "behind the one before";
  EXPECT_EQ(links.arrival(0, 18, 4, 50, kLink), 1000u) << "the way back";
  EXPECT_EQ(links.arrival(0, 4, 28, 50, kLink), 1000u) << "another group";
  EXPECT_EQ(links.arrival(9000, 5, 19, 50, kLink), 11'000u) << "behind both";
  EXPECT_EQ(links.arrival(20'000, 5, 19, 50, kLink), 21'000u) << "the link is free again";
  links.begin();
  EXPECT_EQ(links.arrival(0, 4, 18, 50, kLink), 1000u);
}

TEST(NarrowLinks, CountsRanksOfOneHostAsOneGroup) {
  NarrowLinks links(64, 16);  // four hosts, in groups of two
  links.begin();
  EXPECT_EQ(links.arrival(0, 0, 31, 50, kLink), 1000u);
  EXPECT_EQ(links.arrival(0, 1, 30, 50, kLink), 1000u);
  EXPECT_EQ(links.arrival(0, 0, 32, 50, kLink), 1000u);
  EXPECT_EQ(links.arrival(0, 31, 63, 50, kLink), 6000u);
}

// What is said of all members at once is what is said of each.
TEST(NarrowLinks, KnowTheLastOfMessagesThatAllSendTheSameWay) {
  constexpr Rank kRanks = 256;
  NarrowLinks links(kRanks, 1);
  for (const bool turns : {false, true}) {
    for (const Rank distance : {1u, 2u, 8u, 15u, 16u, 17u, 40u, 64u, 127u, 128u, 200u, 250u, 255u}) {
      if (turns && (distance & (distance - 1)) != 0) continue;
      links.begin();
      Picoseconds last = 0;
      for (Rank from = 0; from < kRanks; ++from) {
        const Rank to = turns ? from ^ distance : (from + distance) % kRanks;
        last = std::max(last, links.arrival(7, from, to, 50, kLink));
      }
      links.begin();
      EXPECT_EQ(links.last_arrival(7, distance, turns, 50, kLink), last) << distance << ' ' << turns;
    }
  }
}

// Following one member takes no longer for more members, so no limit leaves the others to a formula.
TEST(RankingOfLargeTeams, ReplaysWhatIsAlikeForAllMembers) {
  for (const Operation operation :
       {Operation::all_gather, Operation::all_to_all, Operation::reduce_scatter}) {
    const std::vector<Ranked> all = ranking_of(call_of(operation, 4096, 8), NetworkModel::Origin::profile);
    ASSERT_FALSE(all.empty());
    int alike = 0;
    for (const Ranked& one : all) {
      if (!is_symmetric(*one.timed.algorithm)) continue;
      ++alike;
      EXPECT_EQ(one.known, Known::replayed) << coll::name_of(one.timed);
    }
    EXPECT_GT(alike, 0);
  }
}

TEST(RankingOfLargeTeams, KeepsToItsLimitOfMessages) {
  const Shape shape = call_of(Operation::broadcast, 4096, 8);
  const TeamTraits team = over_network(4096);
  const Fit how = fit_or_cut(kBroadcastKNomial, {}, shape, team, ample(4096));
  ASSERT_EQ(how.refusal, nullptr);
  const auto machine = machine_for(table_of(NetworkModel::Origin::profile), team, 8);
  const std::uint64_t work = replayed_messages(kBroadcastKNomial, how);
  std::uint64_t left = work - 1;
  EXPECT_EQ(time_within(left, kBroadcastKNomial, how, *machine, nullptr), std::nullopt);
  EXPECT_EQ(left, work - 1);
  left = work;
  EXPECT_NE(time_within(left, kBroadcastKNomial, how, *machine, nullptr), std::nullopt);
  EXPECT_EQ(left, 0u);
}

// One member of an all-gather by Bruck stands for all, with the same result as if all were followed.
TEST(RankingOfLargeTeams, FollowsOneMemberToThePicosecond) {
  const Shape shape = call_of(Operation::all_gather, 100, 64);
  const TeamTraits team = over_network(100);
  const Fit how = fit_or_cut(kAllGatherBruck, {}, shape, team, ample(100));
  const auto machine = machine_for(table_of(NetworkModel::Origin::profile), team, 64);
  std::uint64_t messages = 0;
  EXPECT_EQ(followed_time(kAllGatherBruck, how, *machine),
            replayed_time(kAllGatherBruck, how, *machine, messages));
  EXPECT_LT(followed_messages(kAllGatherBruck, how), messages / 4);
  EXPECT_EQ(followed_messages(kBroadcastKNomial, how), 0u);
}

// A costs-only model says that shifts over half of the team are as good as any. On shared links they are not.
TEST(ChoicesForLargeTeams, MindLinksThatMayBeShared) {
  const Shape shape = call_of(Operation::all_gather, 256, 65'536);
  const TeamTraits team = over_network(256);
  const auto on_narrow_links = [&](const Ranked& one) {
    const Fit how = fit_or_cut(*one.timed.algorithm, one.timed.wanted, shape, team, ample(256));
    const auto machine = machine_for(table_of(NetworkModel::Origin::profile), team, 65'536);
    NarrowLinks links(256, 1);
    std::uint64_t messages = 0;
    return replayed_time(*one.timed.algorithm, how, *machine, messages, &links).value_or(0);
  };
  const std::vector<Ranked> minds = ranking_of(shape, NetworkModel::Origin::profile);
  const std::vector<Ranked> does_not = ranking_of(shape, NetworkModel::Origin::conduit);
  ASSERT_FALSE(minds.empty());
  ASSERT_FALSE(does_not.empty());
  EXPECT_NE(minds.front().narrow_picoseconds, 0u);
  EXPECT_EQ(does_not.front().narrow_picoseconds, 0u) << "a conduit that knows its network";
  EXPECT_LT(3 * on_narrow_links(minds.front()), 2 * on_narrow_links(does_not.front()));
  EXPECT_LE(minds.front().timed.picoseconds, does_not.front().timed.picoseconds * 5 / 4)
      << "it costs little if no link is shared";
}

TEST(ChoicesForLargeTeams, DoNotMindThemOnOneSwitch) {
  for (const Ranked& one :
       ranking_of(call_of(Operation::all_gather, 36, 65'536), NetworkModel::Origin::profile))
    EXPECT_EQ(one.narrow_picoseconds, 0u);
  for (const Ranked& one :
       ranking_of(call_of(Operation::all_gather, 37, 65'536), NetworkModel::Origin::profile))
    EXPECT_NE(one.narrow_picoseconds, 0u) << coll::name_of(one.timed);
}

TEST(ChoicesForLargeTeams, SayWhatTheyWouldTakeOnSharedLinks) {
  const TableChooser rules;
  const TunedChooser chooser(rules,
                             std::make_shared<const TuningTable>(table_of(NetworkModel::Origin::profile)));
  EXPECT_THAT(chooser.explain(call_of(Operation::all_gather, 64, 4096), over_network(64), ample(64)),
              HasSubstr(" us if far hosts share links"));
}

}  // namespace
}  // namespace aqueduct::coll
