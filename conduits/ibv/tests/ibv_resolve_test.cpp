// The way to a peer cannot be found for a while, or at all; and a queue pair of datagrams is not made ready again.

#include "conduits/ibv/tests/ranks.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <chrono>

namespace aqueduct::conduits::ibv {
namespace {

using namespace std::chrono_literals;
using Kind = core::Post::Kind;
using testing::HasSubstr;
using testing::Not;

int times(const std::string& text, const std::string& part) {
  int found = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

class IbvResolve : public testing::Test {
 protected:
  core::Post send(Rank from, Rank to) {
    return ranks.until_answered([&] { return try_to_send(from, to); });
  }
  core::Post try_to_send(Rank from, Rank to) { return ranks[from].send(to, header, {}, 0); }

  Ranks ranks{{}, 3};
  alignas(8) std::byte header[16]{};
};

TEST_F(IbvResolve, TriesAgainWhereNoWayIsFoundAtFirst) {
  ranks.network().faults.no_way = 5;
  EXPECT_EQ(send(0, 1).kind, Kind::done);
  EXPECT_EQ(ranks.network().faults.no_way, 0);
  EXPECT_TRUE(ranks.heard(0).losses.empty());
  EXPECT_THAT(ranks.said(), HasSubstr("finds no way to rank 1 (fe80::"));
  EXPECT_THAT(ranks.said(), HasSubstr("It tries again for 10 s"));
  EXPECT_THAT(ranks.said(), HasSubstr("has found a way to rank 1"));
  EXPECT_EQ(send(0, 2).kind, Kind::done);
}

// An attempt may stop the thread for seconds.
TEST_F(IbvResolve, LeavesAPauseBetweenAttempts) {
  ranks.network().faults.no_way = -1;
  const auto began = std::chrono::steady_clock::now();
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(try_to_send(0, 1).kind, Kind::retry);
    ranks.poll();
    ranks.pass(5ms);
  }
  const auto passed =
      500ms + (std::chrono::steady_clock::now() - began);  // the clock of the ranks goes on by itself too
  EXPECT_LE(ranks.network().counts.ways, passed / 200ms + 2);
  EXPECT_GE(ranks.network().counts.ways, 2);
}

TEST_F(IbvResolve, LosesThePeerAfterATime) {
  ranks.network().faults.no_way = -1;
  const core::Post post = send(0, 1);
  EXPECT_EQ(post.kind, Kind::failed);
  ASSERT_TRUE(ranks.until([&] { return !ranks.heard(0).losses.empty(); }));
  EXPECT_EQ(ranks.heard(0).losses.front(), 1u);
  EXPECT_EQ(times(ranks.said(), "finds no way to rank 1"), 1) << ranks.said();
  EXPECT_EQ(times(ranks.said(), "knows no way to rank 1"), 1) << ranks.said();
  EXPECT_THAT(ranks.said(), HasSubstr("AQUEDUCT_IBV_GID"));
  ranks.network().faults.no_way = 0;
  EXPECT_EQ(send(0, 2).kind, Kind::done) << "others are reached";
}

TEST_F(IbvResolve, LosesThePeerAtOnceForAReasonThatStays) {
  ranks.network().faults.no_way = -1;
  ranks.network().faults.no_way_error = EINVAL;
  static_cast<void>(try_to_send(0, 1));
  ranks.poll();
  EXPECT_EQ(try_to_send(0, 1).kind, Kind::failed);
  EXPECT_EQ(ranks.network().counts.ways, 1);
  EXPECT_THAT(ranks.said(), Not(HasSubstr("tries again")));
}

// Rank 1's answer does not leave, and the device does not make its queue pair ready again. No request arrives there then, so what
// starts it again is time.
TEST(IbvListener, IsStartedAgainAfterAPauseWhereTheDeviceRefuses) {
  for (const int refused : {1, 3}) {
    Ranks ranks({}, 3);
    alignas(8) const std::byte header[16]{};
    auto& faults = ranks.network().faults;
    ASSERT_EQ(ranks[0].send(1, header, {}, 0).kind, Kind::retry);  // its request has arrived
    faults.stop_datagrams = 1;
    faults.refused_starts = refused;
    ranks[1].poll(ranks.heard(1));
    EXPECT_EQ(faults.stop_datagrams, 0);
    for (const Rank from : {0u, 2u}) {
      const auto post = ranks.until_answered([&] { return ranks[from].send(1, header, {}, 0); });
      EXPECT_EQ(post.kind, Kind::done) << "from rank " << from;
    }
    EXPECT_EQ(faults.refused_starts, 0);
    EXPECT_EQ(ranks.network().counts.breaches, 0);
    EXPECT_EQ(times(ranks.said(), "does not start its queue pair"), 1) << ranks.said();
  }
}

}  // namespace
}  // namespace aqueduct::conduits::ibv
