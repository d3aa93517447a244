// Set-up exchanges in which a member has failed, or a peer sends messages that no correct peer sends.

#include <aqueduct/aqueduct.hpp>

#include "coll/barriers.hpp"
#include "coll/exchange.hpp"
#include "coll/wire.hpp"
#include "tests/support/loop_job.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <optional>
#include <string>

namespace aqueduct::coll {
namespace {

class SetUpExchange : public testing::Test {
 protected:
  void start(Rank ranks) { support::start_over_loop(job_, ranks); }
  static Exchanges& of(Endpoint& ep) { return ep.state().barriers->exchanges(); }
  static TeamState& world(Endpoint& ep) { return ep.world().state(); }
  static Blob bytes_of(Rank rank) {
    return Blob(rank % 3 == 0 ? 0 : rank * 100, static_cast<std::byte>(rank));
  }

  /// Delivers a message to rank 0 as if rank 1 had sent it.
  void say(const ExchangePiece& piece, std::size_t payload_bytes) {
    const am::PacketHeader header{am::PacketKind::request,
                                  AmCategory::medium_request,
                                  kExchange,
                                  0,
                                  sizeof piece,
                                  static_cast<std::uint32_t>(payload_bytes),
                                  0};
    Blob packet(sizeof header + sizeof piece + payload_bytes);
    std::memcpy(packet.data(), &header, sizeof header);
    std::memcpy(packet.data() + sizeof header, &piece, sizeof piece);
    me().state().messages->packet(1, packet);
  }
  Endpoint& me() { return job_->endpoint(0); }

  std::optional<Job> job_;
};

// By one level of a tree, and by two, the last of which is not full.
TEST_F(SetUpExchange, GivesEachMemberWhatEachGave) {
  for (const Rank ranks : {Rank{5}, Exchanges::kFlat + 5}) {
    start(ranks);
    job_->run_each([](Endpoint& ep) {
      for (int round = 0; round < 3; ++round) {
        const auto all = of(ep).exchange(world(ep), SetUp::none, bytes_of(ep.rank()));
        ASSERT_TRUE(all);
        ASSERT_EQ(all->size(), ep.ranks());
        for (Rank rank = 0; rank < ep.ranks(); ++rank) {
          const auto given = (*all)[rank];
          EXPECT_EQ(Blob(given.begin(), given.end()), bytes_of(rank));
        }
        EXPECT_LE(of(ep).kept(), ep.ranks());  // nothing is kept of exchanges that are over
      }
    });
  }
}

// A member that has failed takes part: otherwise the others would wait for its messages.
TEST_F(SetUpExchange, OfAMemberThatHasNothingToGiveFailsAlikeOnAll) {
  start(5);
  job_->run_each([](Endpoint& ep) {
    for (const Rank failing : {Rank{0}, Rank{3}, ep.ranks() - 1}) {
      const Status mine = ep.rank() >= failing ? Status(ErrorCode::no_space) : Status();
      const Status failure(ErrorCode::no_space, failing);  // the first in the team's order
      EXPECT_EQ(of(ep).exchange(world(ep), SetUp::none, {}, mine).status(), failure);
      EXPECT_EQ(of(ep).agree(world(ep), mine), failure);
      EXPECT_TRUE(of(ep).agree(world(ep), {}));
    }
  });
}

// The others may not know of the loss yet, and wait for a member that waits no longer.
TEST_F(SetUpExchange, OfWhichAMemberHearsOfALossEndsOnAll) {
  start(3);
  say({world(me()).id, 1, kUp, static_cast<std::uint32_t>(ErrorCode::peer_lost), 1, 0}, 0);
  job_->run_each([](Endpoint& ep) {
    EXPECT_EQ(of(ep).agree(world(ep), {}), Status(ErrorCode::peer_lost, 1));
    EXPECT_TRUE(of(ep).agree(world(ep), {}));
  });
}

TEST_F(SetUpExchange, OfTooMuchFailsAlikeOnAll) {
  start(3);
  job_->run_each([](Endpoint& ep) {
    const Blob mine(ep.rank() == 1 ? Exchanges::kMostOfOne + 1 : Exchanges::kMostOfOne);
    EXPECT_EQ(of(ep).exchange(world(ep), SetUp::none, mine).status(), Status(ErrorCode::too_large, 1));
    EXPECT_TRUE(of(ep).agree(world(ep), {}));
  });
}

TEST_F(SetUpExchange, InAHandlerIsRefusedThereAndTheOthersDoNotNotice) {
  start(2);
  job_->run_each([](Endpoint& ep) {
    int refused = 0;
    const auto handler = on_short_request<NoArguments>(ep, [&](auto&, const NoArguments&) {
      refused += of(ep).exchange(world(ep), SetUp::none, {}).status().code() == ErrorCode::in_handler ? 1 : 0;
      refused += Segment::create(ep, 64).status().code() == ErrorCode::in_handler ? 1 : 0;
      refused += ep.world().split(1, 0).status().code() == ErrorCode::in_handler ? 1 : 0;
    });
    ASSERT_TRUE(handler && ep.barrier());
    if (ep.rank() == 1) {
      ASSERT_TRUE(request(ep, 0, *handler));
    }
    ASSERT_TRUE(ep.barrier());
    EXPECT_EQ(refused, ep.rank() == 0 ? 3 : 0);
    const auto segment = Segment::create(ep, 64);
    EXPECT_TRUE(segment);
    auto team = ep.world().split(1, 0);
    ASSERT_TRUE(team && *team);
    EXPECT_TRUE((**team).barrier());  // its id is the same on both
  });
}

// A message announces 4 GiB. The handler must not throw.
TEST_F(SetUpExchange, OfAPeerThatAnnouncesWhatNobodySendsIsRefused) {
  start(2);
  say({7, 1, 0, 0, 0, std::uint64_t{1} << 32}, 64);
  EXPECT_EQ(me().statistics().rejected, 1u);
  say({7, 1, 0, 0, 8, 64}, 60);
  EXPECT_EQ(me().statistics().rejected, 2u);
}

TEST_F(SetUpExchange, OfAPeerThatInventsExchangesTakesBoundedMemory) {
  start(2);
  for (std::uint64_t number = 1; number <= 10'000; ++number) say({number % 7, number, 0, 0, 0, 64}, 8);
  EXPECT_EQ(of(me()).kept(), Exchanges::kMostStreamsOfPeer);
  EXPECT_EQ(me().statistics().rejected, 10'000u - Exchanges::kMostStreamsOfPeer);
}

// Such as those of teams that a lost member has broken.
TEST_F(SetUpExchange, IsNotKeptUpByLeftoversOfOthers) {
  start(2);
  for (std::uint64_t team = 1; team <= 1000; ++team) say({team << 32, 1, kDown, 0, 0, 64}, 8);
  job_->run_each([](Endpoint& ep) {
    EXPECT_TRUE(of(ep).agree(world(ep), {}));
    EXPECT_TRUE(of(ep).agree(world(ep), {}));
  });
  const std::size_t kept = of(me()).kept();
  EXPECT_LE(kept, Exchanges::kMostStreamsOfPeer);
  say({world(me()).id, 1, kUp, 0, 0, 64}, 8);  // of an exchange that is over
  EXPECT_EQ(of(me()).kept(), kept);
}

// Ranks that make a team exchange under the name of their list before the team has an id.
TEST_F(SetUpExchange, OfRanksThatMakeATeamIsNotTakenForThatOfATeamOfSomeOfThem) {
  start(2);
  job_->run_each([](Endpoint& ep) {
    constexpr std::uint64_t kTag = 5;
    const std::array<Rank, 2> two{0, 1};
    for (int i = 0; i < 4; ++i) {
      auto made = Team::create(ep, two, kTag);
      ASSERT_TRUE(made);
      for (Rank third = 0; third < 100; ++third) {
        const std::array<Rank, 3> three{0, 1, third};
        EXPECT_NE(made->state().id, TeamNames::of(kTag, three)) << third;
      }
      EXPECT_TRUE(made->end());
    }
  });
}

TEST_F(SetUpExchange, WithForgedBytesFailsInsteadOfWaiting) {
  start(2);
  const std::uint64_t world_id = world(me()).id;
  say({world_id, 1, 0, 0, 0, 24}, 24);  // 24 zeroes are one and a half heads
  EXPECT_EQ(of(me()).exchange(world(me()), SetUp::none, {}).status().code(), ErrorCode::internal);
  say({world_id, 2, 0, UINT32_MAX, 1, 0}, 0);  // a code that does not exist
  EXPECT_EQ(of(me()).exchange(world(me()), SetUp::none, {}).status(), Status(ErrorCode::internal, 1));
}

}  // namespace
}  // namespace aqueduct::coll
