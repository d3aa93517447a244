// The collective operations that loop carries out by itself, without the library above.

#include "conduits/loop/loop_collectives.hpp"
#include "conduits/loop/tests/party.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

namespace aqueduct::conduits::loop {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

void add_words(void* to, const void* left, const void* right, std::size_t count, void*) {
  for (std::size_t i = 0; i < count; ++i) {
    std::uint64_t a = 0, b = 0;
    std::memcpy(&a, static_cast<const std::byte*>(left) + i * sizeof a, sizeof a);
    std::memcpy(&b, static_cast<const std::byte*>(right) + i * sizeof b, sizeof b);
    a += b;
    std::memcpy(static_cast<std::byte*>(to) + i * sizeof a, &a, sizeof a);
  }
}

/// Three ranks with a team of all of them. Each has a word that goes in and one that comes out.
class LoopCollectivesTest : public testing::TestWithParam<std::uint64_t> {
 protected:
  static constexpr Rank kRanks = 3;

  void SetUp() override {
    ASSERT_TRUE(party_.complete());
    const std::array<Rank, kRanks> members{2, 0, 1};
    for (Rank rank = 0; rank < kRanks; ++rank) {
      in_[rank] = rank + 1;
      teams_[rank] = party_[rank].collectives()->make_team(77, members);
      ASSERT_NE(teams_[rank], nullptr);
    }
  }
  void TearDown() override {
    for (auto& team : teams_) team.reset();  // before their conduits
  }
  core::Post start(Rank rank, std::uint64_t number, std::uint32_t mark = 1) {
    core::NativeCall call;
    call.shape.operation = Collective::all_reduce;
    call.shape.element = call.shape.bytes = sizeof(std::uint64_t);
    call.number = number;
    call.mark = mark;
    call.in = reinterpret_cast<const std::byte*>(&in_[rank]);
    call.out = reinterpret_cast<std::byte*>(&out_[rank]);
    call.combine = add_words;
    return teams_[rank]->start(call, 100 * number + rank);
  }
  auto& ends(Rank rank) { return party_.inbox(rank).ends; }

  LoopParty party_{kRanks, {.collectives = true, .seed = GetParam()}};
  std::array<std::unique_ptr<core::NativeTeam>, kRanks> teams_;
  std::array<std::uint64_t, kRanks> in_{};
  std::array<std::uint64_t, kRanks> out_{};
};

TEST_P(LoopCollectivesTest, EndInAPollAfterTheLastStart) {
  for (const Rank rank : {0u, 1u}) ASSERT_EQ(start(rank, 1).kind, core::Post::Kind::posted);
  party_.poll_until_quiet(3);
  EXPECT_THAT(ends(0), IsEmpty());
  EXPECT_THAT(teams_[0]->missing(1), ElementsAre(2));
  in_[2] = 30;
  ASSERT_EQ(start(2, 1).kind, core::Post::Kind::posted);
  EXPECT_THAT(out_, ElementsAre(0, 0, 0)) << "nothing may be relied on before completion";
  party_.poll_until_quiet(3);
  for (Rank rank = 0; rank < kRanks; ++rank) EXPECT_THAT(ends(rank), ElementsAre(Pair(100 + rank, Status{})));
  EXPECT_THAT(out_, ElementsAre(33, 33, 33));
}

TEST_P(LoopCollectivesTest, GivenUpByOneMemberEndForItAlone) {
  for (const Rank rank : {0u, 1u}) ASSERT_EQ(start(rank, 1).kind, core::Post::Kind::posted);
  teams_[0]->cancel(2);
  party_.poll_until_quiet(3);
  EXPECT_THAT(ends(0), IsEmpty()) << "it has given up later ones only";
  teams_[0]->cancel(1);
  party_.poll_until_quiet(3);
  ASSERT_EQ(ends(0).size(), 1u);
  EXPECT_FALSE(ends(0).front().second.ok());
  EXPECT_THAT(ends(1), IsEmpty());
  ASSERT_EQ(start(2, 1).kind, core::Post::Kind::posted);
  party_.poll_until_quiet(3);
  EXPECT_THAT(ends(2), IsEmpty()) << "nothing moves any more";
  EXPECT_THAT(out_, ElementsAre(0, 0, 0));
  for (const Rank rank : {1u, 2u}) teams_[rank]->cancel(1);
  party_.poll_until_quiet(3);
  for (const Rank rank : {1u, 2u}) EXPECT_EQ(ends(rank).size(), 1u);
}

// What has moved is whole on all members, whoever gives up afterwards.
TEST_P(LoopCollectivesTest, GivenUpAfterTheirBytesHaveMovedEndWell) {
  for (Rank rank = 0; rank < kRanks; ++rank) ASSERT_EQ(start(rank, 1).kind, core::Post::Kind::posted);
  for (const Rank rank : {1u, 2u, 0u}) party_.poll(rank);  // the last one completes what all have computed
  ASSERT_EQ(ends(0).size(), 1u);
  teams_[1]->cancel(1);
  party_.poll_until_quiet(3);
  EXPECT_THAT(ends(1), ElementsAre(Pair(101, Status{})));
  EXPECT_THAT(out_, ElementsAre(6, 6, 6));
}

TEST_P(LoopCollectivesTest, WithDifferentMarksAreAMismatch) {
  for (Rank rank = 0; rank < kRanks; ++rank)
    ASSERT_EQ(start(rank, 1, rank == 1 ? 2 : 1).kind, core::Post::Kind::posted);
  party_.poll_until_quiet(3);
  for (Rank rank = 0; rank < kRanks; ++rank)
    EXPECT_THAT(ends(rank), ElementsAre(Pair(100 + rank, Status(ErrorCode::mismatch))));
  EXPECT_THAT(out_, ElementsAre(0, 0, 0));
}

// Its buffers may be gone with it.
TEST_P(LoopCollectivesTest, TouchNothingOfATeamThatHasEnded) {
  ASSERT_EQ(start(1, 1).kind, core::Post::Kind::posted);
  teams_[1].reset();
  for (const Rank rank : {0u, 2u}) ASSERT_EQ(start(rank, 1).kind, core::Post::Kind::posted);
  party_.poll_until_quiet(3);
  for (Rank rank = 0; rank < kRanks; ++rank) EXPECT_THAT(ends(rank), IsEmpty());
  EXPECT_THAT(out_, ElementsAre(0, 0, 0));
}

TEST_P(LoopCollectivesTest, OfManyAreKeptApart) {
  constexpr std::uint64_t kOperations = 100;  // more than one poll delivers
  for (Rank rank = 0; rank < kRanks; ++rank) {
    for (std::uint64_t i = 1; i <= kOperations; ++i) ASSERT_EQ(start(rank, i).kind, core::Post::Kind::posted);
  }
  party_.poll_until_quiet(3);
  for (Rank rank = 0; rank < kRanks; ++rank) ASSERT_EQ(ends(rank).size(), kOperations);
  EXPECT_THAT(teams_[0]->missing(kOperations), IsEmpty());
  EXPECT_THAT(out_, ElementsAre(6, 6, 6));
}

TEST_P(LoopCollectivesTest, RefuseWhatIsTooLong) {
  core::NativeShape shape;
  shape.operation = Collective::all_gather;
  shape.bytes = kMostCollectiveBytes / kRanks;
  EXPECT_EQ(teams_[0]->refusal(shape), nullptr);
  ++shape.bytes;
  EXPECT_NE(teams_[0]->refusal(shape), nullptr);
  shape.bytes = ~std::uint64_t{0};
  EXPECT_NE(teams_[0]->refusal(shape), nullptr);
  shape = {};
  shape.operation = Collective::all_to_all_v;
  EXPECT_NE(teams_[0]->refusal(shape), nullptr);
}

INSTANTIATE_TEST_SUITE_P(Loop, LoopCollectivesTest, testing::Values(0, 42));

}  // namespace
}  // namespace aqueduct::conduits::loop
