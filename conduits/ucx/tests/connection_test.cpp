#include "conduits/ucx/tests/ucx_party.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace aqueduct::conduits::ucx {
namespace {

using core::Post;
using loop::bytes_of_value;
using loop::Recorder;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using namespace std::chrono_literals;

constexpr std::uint64_t kWord = 42;

std::vector<std::vector<std::byte>> addresses_of(core::Conduit& a, core::Conduit& b) {
  return {a.address(), b.address()};
}

TEST(UcxConnect, RefusesOtherVersionsOfUcxAndOfThisConduit) {
  for (const std::size_t byte : {std::size_t{0}, std::size_t{6}}) {
    UcxProcess process(2, "tcp,self");
    ASSERT_NE(process.network(), nullptr);
    auto a = process.network()->open(0);
    auto b = process.network()->open(1);
    ASSERT_TRUE(a && b);
    auto addresses = addresses_of(**a, **b);
    addresses[1][byte] = std::byte{99};
    EXPECT_EQ((*a)->connect(addresses), Status(ErrorCode::version_mismatch, 1));
    EXPECT_THAT(process.lines(), Contains(HasSubstr("start one version of both libraries")));
    addresses[1].resize(4);
    EXPECT_EQ((*a)->connect(addresses), Status(ErrorCode::bootstrap_failed, 1));
  }
}

TEST(UcxConnect, NoTransportLeadsToAClearReason) {
  UcxProcess process(2, "warp");
  EXPECT_EQ(process.network(), nullptr);
  EXPECT_THAT(process.lines(), ElementsAre(HasSubstr("AQUEDUCT_UCX_TRANSPORTS is 'warp'")));
}

TEST(UcxMessages, OfAnotherJobAreRejected) {
  UcxProcess here(2, "tcp,self", "0", 1);
  UcxProcess there(2, "tcp,self", "0", 2);
  ASSERT_TRUE(here.network() != nullptr && there.network() != nullptr);
  auto a = here.network()->open(0);
  auto b = there.network()->open(1);
  ASSERT_TRUE(a && b);
  const auto addresses = addresses_of(**a, **b);
  ASSERT_TRUE((*a)->connect(addresses));
  ASSERT_TRUE((*b)->connect(addresses));
  ASSERT_EQ((*a)->send(1, bytes_of_value(kWord), {}, 0).kind, Post::Kind::done);
  Recorder inbox;
  const auto& counts = dynamic_cast<UcxConduit&>(**b).counts();
  const auto end = std::chrono::steady_clock::now() + 20s;
  while (counts.rejected == 0 && std::chrono::steady_clock::now() < end) {
    (*a)->poll(inbox);
    (*b)->poll(inbox);
  }
  EXPECT_EQ(counts.rejected, 1u);
  EXPECT_TRUE(inbox.packets.empty());
}

/// Operations on a peer that leaves end with peer_lost, and the peer is reported lost once.
void loses_a_peer(const std::string& transports, bool by_itself) {
  UcxParty party(3, transports);
  ASSERT_TRUE(party.complete());
  std::vector<std::byte> memory(1 << 20);
  std::vector<std::byte> mine(1 << 20);
  auto key = party[1].rma()->register_segment(0, memory);
  ASSERT_TRUE(key);
  const auto handle = party[0].rma()->import_key(1, *key);
  ASSERT_TRUE(handle);
  ASSERT_EQ(party[0].rma()->put(1, *handle, 0, bytes_of_value(kWord), false, 1).kind, Post::Kind::posted);
  ASSERT_TRUE(party.poll_until([&] { return party.inbox(0).ends.size() == 1; }));
  ASSERT_TRUE(party.inbox(0).ends.front().second);
  ASSERT_EQ(party[0].rma()->put(1, *handle, 0, mine, false, 2).kind, Post::Kind::posted);
  ASSERT_EQ(party[0].rma()->get(1, *handle, 0, mine, 3).kind, Post::Kind::posted);
  ASSERT_EQ(party[0].rma()->put(1, *handle, 0, bytes_of_value(kWord), true, 4).kind, Post::Kind::posted);
  party.leave(1);
  if (!by_itself) party[0].forget(1);
  ASSERT_TRUE(
      party.poll_until([&] { return party.inbox(0).ends.size() == 4 && !party.inbox(0).losses.empty(); }));
  for (std::size_t i = 1; i < 4; ++i) {
    EXPECT_EQ(party.inbox(0).ends[i].second, Status(ErrorCode::peer_lost, 1))
        << "operation " << party.inbox(0).ends[i].first;
  }
  EXPECT_EQ(party[0].send(1, bytes_of_value(kWord), {}, 0).why, ErrorCode::peer_lost);
  EXPECT_EQ(party[0].rma()->put(1, *handle, 0, bytes_of_value(kWord), false, 5).why, ErrorCode::peer_lost);
  EXPECT_THAT(party[0].state_of(1), HasSubstr("gone"));
  // The third rank is not affected.
  ASSERT_EQ(party[0].send(2, bytes_of_value(kWord), {}, 0).kind, Post::Kind::done);
  ASSERT_TRUE(party.poll_until([&] { return party.inbox(2).packets.size() == 1; }));
  EXPECT_THAT(party.inbox(0).losses, ElementsAre(1));
}

TEST(UcxLoss, IsNoticedOverTcp) { loses_a_peer("tcp,self", true); }
TEST(UcxLoss, IsBelievedOverTcp) { loses_a_peer("tcp,self", false); }
TEST(UcxLoss, IsBelievedWhereMemoryIsShared) { loses_a_peer("posix,self", false); }

TEST(UcxWait, ArrivalEndsASleepThatBeginsLater) {
  UcxParty party(2, "tcp,self");
  ASSERT_TRUE(party.complete());
  // Both connections are made first, because making one counts as an arrival.
  for (Rank rank = 0; rank < 2; ++rank)
    ASSERT_EQ(party[rank].send(1 - rank, bytes_of_value(kWord), {}, 0).kind, Post::Kind::done);
  ASSERT_TRUE(party.poll_until(
      [&] { return party.inbox(0).packets.size() == 1 && party.inbox(1).packets.size() == 1; }));
  core::Waitable& sleeper = *party[1].waitable();
  const auto arm = [&] {
    for (;;) {
      sleeper.arm();
      if (party.poll(1) == 0 && sleeper.within() > 0ns) return;
      party.poll(0);
    }
  };
  arm();
  const auto began = std::chrono::steady_clock::now();
  sleeper.sleep(30ms);
  EXPECT_GE(std::chrono::steady_clock::now() - began, 25ms) << "nothing had arrived";
  sleeper.disarm();
  arm();
  ASSERT_EQ(party[0].send(1, bytes_of_value(kWord), {}, 0).kind, Post::Kind::done);
  sleeper.sleep(20s);
  sleeper.disarm();
  EXPECT_LT(std::chrono::steady_clock::now() - began, 10s);
  EXPECT_TRUE(party.poll_until([&] { return party.inbox(1).packets.size() == 2; }));
}

TEST(UcxProgress, PutsAndGetsEndWhileTheTargetComputes) {
  UcxParty party(2, "tcp,self", "2ms");
  ASSERT_TRUE(party.complete());
  std::vector<std::byte> memory(1 << 20);
  std::vector<std::byte> mine(1 << 20, std::byte{5});
  auto key = party[1].rma()->register_segment(0, memory);
  ASSERT_TRUE(key);
  const auto handle = party[0].rma()->import_key(1, *key);
  ASSERT_TRUE(handle);
  const auto owner_polls_until = [&](std::size_t ends) {
    const auto end = std::chrono::steady_clock::now() + 20s;
    while (party.inbox(0).ends.size() < ends && std::chrono::steady_clock::now() < end) party.poll(0);
    ASSERT_EQ(party.inbox(0).ends.size(), ends);
    ASSERT_TRUE(party.inbox(0).ends.back().second);
  };
  ASSERT_EQ(party[0].rma()->put(1, *handle, 0, mine, false, 1).kind, Post::Kind::posted);
  ASSERT_NO_FATAL_FAILURE(owner_polls_until(1));
  EXPECT_EQ(memory, mine);
  std::fill(mine.begin(), mine.end(), std::byte{});
  ASSERT_EQ(party[0].rma()->get(1, *handle, 0, mine, 2).kind, Post::Kind::posted);
  ASSERT_NO_FATAL_FAILURE(owner_polls_until(2));
  EXPECT_EQ(memory, mine);
  // A packet and signals wait for the owner's poll.
  ASSERT_EQ(party[0].send(1, bytes_of_value(kWord), {}, 0).kind, Post::Kind::done);
  // Several signals to one counter are delivered as one.
  for (core::Token token = 3; token < 6; ++token) {
    ASSERT_EQ(party[0].signal()->put_signal(1, *handle, 0, {}, {3, 1}, token).kind, Post::Kind::posted);
    ASSERT_NO_FATAL_FAILURE(owner_polls_until(token));
  }
  EXPECT_TRUE(party.inbox(1).signals.empty());
  EXPECT_TRUE(party.poll_until(
      [&] { return party.inbox(1).signals.size() == 1 && party.inbox(1).packets.size() == 1; }));
  EXPECT_EQ(party.inbox(1).signals.front().second.add, 3u);
}

}  // namespace
}  // namespace aqueduct::conduits::ucx
