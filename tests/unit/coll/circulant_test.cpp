#include "coll/algorithms/algorithms.hpp"
#include "coll/algorithms/circulant.hpp"
#include "coll/schedule/schedule.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace aqueduct::coll {
namespace {

using testing::ElementsAre;

std::vector<std::int64_t> received(Rank ranks, Rank position) {
  const Circulant graph(ranks);
  std::vector<std::int64_t> out;
  for (std::uint32_t k = 0; k < graph.rounds; ++k) out.push_back(graph.received(position, k));
  return out;
}

// The schedule of the paper for 17 members: Träff, arXiv 2312.11236, table 2.
TEST(Circulant, HasTheSkipsAndBlocksOfThePaperForSeventeen) {
  const Circulant graph(17);
  std::vector<std::uint64_t> skips;
  for (std::uint32_t k = 0; k <= graph.rounds; ++k) skips.push_back(graph.skip(k));
  EXPECT_THAT(skips, ElementsAre(1, 2, 3, 5, 9, 17));
  EXPECT_THAT(received(17, 1), ElementsAre(0, -4, -2, -3, -1));
  EXPECT_THAT(received(17, 2), ElementsAre(-5, 1, -2, -3, -1));
  EXPECT_THAT(received(17, 3), ElementsAre(-4, -5, 2, -2, -1));
  EXPECT_THAT(received(17, 4), ElementsAre(-3, -4, 0, -2, -1));
  EXPECT_THAT(received(17, 5), ElementsAre(-5, -3, -4, 3, -1));
  EXPECT_THAT(received(17, 8), ElementsAre(-4, -5, -2, 2, -1));
  EXPECT_THAT(received(17, 9), ElementsAre(-3, -4, -2, -5, 4));
  EXPECT_THAT(received(17, 16), ElementsAre(-5, -2, -3, -1, 1));
}

TEST(Circulant, NotesOfABroadcastGiveTheSameSteps) {
  for (const Rank ranks : {1u, 2u, 3u, 5u, 16u, 17u, 33u, 100u}) {
    for (const std::uint32_t segments : {1u, 3u, 8u, 20u}) {
      Shape shape;
      shape.operation = Operation::broadcast;
      shape.ranks = ranks;
      shape.root = ranks / 3;
      shape.bytes = 20;
      shape.parameters = {segments};
      const TeamSchedule plain(kBroadcastCirculant, shape);
      std::vector<std::int8_t> notes(TeamSchedule::notes(kBroadcastCirculant, shape));
      EXPECT_EQ(notes.empty(), ranks == 1);
      TeamSchedule noted(kBroadcastCirculant, shape);
      noted.take_notes(notes);
      for (Rank position = 0; position < ranks; ++position) {
        const TeamSchedule::Lengths lengths = plain.lengths(position, 0);
        for (std::uint32_t i = 0; i < lengths.all; ++i) {
          ASSERT_EQ(noted.step(position, 0, i, lengths), plain.step(position, 0, i, lengths))
              << ranks << " members, " << segments << " segments, position " << position << ", step " << i;
          ASSERT_EQ(noted.brief(position, 0, i, lengths), brief_of(plain.step(position, 0, i, lengths)))
              << ranks << " members, " << segments << " segments, position " << position << ", step " << i;
        }
      }
    }
  }
}

/// The paper's conditions: in `rounds` successive rounds a member receives as many different blocks, and sends nothing
/// that it has not received. What a member sends is what its peer receives, by construction.
testing::AssertionResult is_correct(Rank ranks) {
  const Circulant graph(ranks);
  const auto rounds = std::int64_t{graph.rounds};
  std::vector<std::vector<std::int64_t>> all(ranks);
  for (Rank position = 1; position < ranks; ++position) all[position] = received(ranks, position);
  for (Rank position = 1; position < ranks; ++position) {
    const auto first = std::int64_t{graph.base(position)};
    std::vector<std::int64_t> wanted{first};
    for (std::int64_t block = -rounds; block < 0; ++block) {
      if (block != first - rounds) wanted.push_back(block);
    }
    std::vector<std::int64_t> got = all[position];
    std::sort(got.begin(), got.end());
    std::sort(wanted.begin(), wanted.end());
    if (got != wanted)
      return testing::AssertionFailure() << "member " << position << " does not receive all blocks";
  }
  for (Rank position = 0; position < ranks; ++position) {
    for (std::uint32_t k = 0; k < graph.rounds; ++k) {
      const Rank peer = graph.behind(position, k);
      if (peer == 0) continue;
      const std::int64_t sent = all[peer][k];
      const auto& mine = all[position];
      const bool has = position == 0
                           ? sent == std::int64_t{k}
                           : sent == std::int64_t{graph.base(position)} - rounds ||
                                 std::find(mine.begin(), mine.begin() + k, sent) != mine.begin() + k;
      if (!has) {
        return testing::AssertionFailure()
               << "member " << position << " sends block " << sent << " in round " << k << " too early";
      }
    }
  }
  return testing::AssertionSuccess();
}

TEST(Circulant, ReceivesEveryBlockOnceAndSendsOnlyWhatItHas) {
  for (Rank ranks = 2; ranks <= 600; ++ranks) ASSERT_TRUE(is_correct(ranks)) << ranks << " members";
}

TEST(Circulant, IsCorrectAboutLargerPowersOfTwo) {
  for (const Rank ranks : {511u, 512u, 513u, 1000u, 1023u, 1024u, 1025u, 2047u, 2049u, 4095u, 4096u})
    ASSERT_TRUE(is_correct(ranks)) << ranks << " members";
}

}  // namespace
}  // namespace aqueduct::coll
