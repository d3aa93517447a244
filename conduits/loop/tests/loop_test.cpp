#include "conduits/loop/loop.hpp"
#include "conduits/loop/tests/allocation_count.hpp"
#include "conduits/loop/tests/party.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace aqueduct::conduits::loop {
namespace {

using core::Post;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

TEST(Loop, DeliversHeaderAndPayloadAsOnePacketAlsoToItself) {
  LoopParty party(3);
  ASSERT_TRUE(party.complete());
  EXPECT_EQ(party[0].send(2, bytes_of_text("head"), bytes_of_text("body"), 7).kind, Post::Kind::done);
  EXPECT_EQ(party[2].send(2, bytes_of_text("me"), {}, 8).kind, Post::Kind::done);
  party.poll_until_quiet();
  EXPECT_THAT(party.inbox(2).packets, ElementsAre(Pair(0, "headbody"), Pair(2, "me")));
  EXPECT_TRUE(party.inbox(2).ends.empty()) << "`done` promises that no completion follows";
  EXPECT_TRUE(party.inbox(0).packets.empty() && party.inbox(1).packets.empty());
}

TEST(Loop, TakesEverySizeUpToMaxPacketAndRefusesMore) {
  LoopParty party(2, {.max_packet = 300});
  ASSERT_EQ(party[0].properties().max_packet, 300u);
  for (const std::size_t bytes : {0, 1, 7, 8, 9, 255, 256, 299, 300}) {
    const std::string text(bytes, static_cast<char>('a' + bytes % 26));
    const std::size_t header = std::min<std::size_t>(bytes, 128);
    const auto all = bytes_of_text(text);
    ASSERT_EQ(party[0].send(1, all.first(header), all.subspan(header), 0).kind, Post::Kind::done) << bytes;
    party.poll_until_quiet();
    ASSERT_FALSE(party.inbox(1).packets.empty()) << bytes;
    EXPECT_EQ(party.inbox(1).packets.back().second, text) << bytes;
  }
  EXPECT_TRUE(party.inbox(1).aligned);
  const Post post = party[0].send(1, {}, bytes_of_text(std::string(301, 'x')), 0);
  EXPECT_EQ(post.kind, Post::Kind::failed);
  EXPECT_EQ(post.why, ErrorCode::too_large);
}

TEST(Loop, AnswersRetryBeyondItsQueueAndLosesNothing) {
  LoopParty party(2, {.queue = 5});
  for (int i = 0; i < 5; ++i) ASSERT_EQ(party[0].send(1, bytes_of_value(i), {}, 0).kind, Post::Kind::done);
  const int late = 5;
  EXPECT_EQ(party[0].send(1, bytes_of_value(late), {}, 0).kind, Post::Kind::retry);
  party.poll_until_quiet();
  EXPECT_EQ(party.inbox(1).packets.size(), 5u);
  EXPECT_EQ(party[0].send(1, bytes_of_value(late), {}, 0).kind, Post::Kind::done);
  party.poll_until_quiet();
  EXPECT_EQ(party.inbox(1).packets.size(), 6u);
}

TEST(Loop, TellsOnceThatAPeerHasClosedAfterItsLastPackets) {
  LoopParty party(3);
  ASSERT_EQ(party[2].send(0, bytes_of_text("last words"), {}, 0).kind, Post::Kind::done);
  party.close(2);
  party.poll_until_quiet();
  party.poll_until_quiet();
  EXPECT_THAT(party.inbox(0).packets, ElementsAre(Pair(2, "last words")));
  EXPECT_THAT(party.inbox(0).losses, ElementsAre(2));
  EXPECT_THAT(party.inbox(1).losses, ElementsAre(2));
  const Post post = party[0].send(2, bytes_of_text("?"), {}, 0);
  EXPECT_EQ(post.kind, Post::Kind::failed);
  EXPECT_EQ(post.why, ErrorCode::peer_lost);
}

TEST(Loop, DeliversALossOnlyAfterPacketsThatNeedSeveralPolls) {
  LoopParty party(2);
  for (int i = 0; i < 60; ++i) ASSERT_EQ(party[1].send(0, bytes_of_value(i), {}, 0).kind, Post::Kind::done);
  party.close(1);
  while (party.inbox(0).losses.empty() && party.poll(0) > 0) {
  }
  EXPECT_EQ(party.inbox(0).packets.size(), 60u);
  EXPECT_THAT(party.inbox(0).losses, ElementsAre(1));
}

TEST(Loop, RefusesWhatItCannotServe) {
  LoopNetwork network(3, {}, nullptr, core::kSystemClock);
  auto conduit = network.open(0);
  ASSERT_TRUE(conduit);
  EXPECT_EQ(network.open(3).status().code(), ErrorCode::out_of_range);
  EXPECT_EQ(network.open(0).status().code(), ErrorCode::refused);

  const auto mine = (*conduit)->address();
  std::vector<std::vector<std::byte>> addresses = {mine, {}};
  EXPECT_EQ((*conduit)->connect(addresses).code(), ErrorCode::invalid_argument);
  addresses.push_back(mine);  // the address of rank 0 for rank 2
  EXPECT_EQ((*conduit)->connect(addresses), Status(ErrorCode::invalid_argument, 2));
  addresses[2].clear();
  EXPECT_TRUE((*conduit)->connect(addresses));
  EXPECT_EQ((*conduit)->send(1, mine, {}, 0).why, ErrorCode::not_supported);
  EXPECT_EQ((*conduit)->send(3, mine, {}, 0).why, ErrorCode::out_of_range);
}

TEST(Loop, SaysPeerLostForAPeerThatNeverOpened) {
  LoopNetwork network(2, {}, nullptr, core::kSystemClock);
  auto conduit = network.open(0);
  ASSERT_TRUE(conduit);
  std::vector<std::vector<std::byte>> addresses = {(*conduit)->address(), (*conduit)->address()};
  const Rank other = 1;
  std::memcpy(addresses[1].data(), &other, sizeof other);
  ASSERT_TRUE((*conduit)->connect(addresses));
  EXPECT_EQ((*conduit)->send(1, addresses[1], {}, 0).why, ErrorCode::peer_lost);
}

TEST(Loop, DoesNotAllocateOnTheDataPath) {
  struct Counter final : core::Inbox {
    void packet(Rank, core::Bytes) noexcept override { ++calls; }
    void completed(core::Token, Status) noexcept override { ++calls; }
    void signalled(Rank, Signal) noexcept override { ++calls; }
    void lost(Rank) noexcept override {}
    int calls = 0;
  };
  for (const std::uint64_t seed : {0, 1}) {
    LoopParty party(2, {.native = LoopOptions::Native::rma, .seed = seed});
    std::vector<std::byte> memory(64);
    auto key = party[1].rma()->register_segment(0, memory);
    ASSERT_TRUE(key);
    const auto handle = party[0].rma()->import_key(1, *key);
    ASSERT_TRUE(handle);
    const std::vector<std::byte> payload(100);
    const std::vector<std::byte> from(8);
    Counter inbox;

    const auto before = allocations();
    for (int i = 0; i < 1000; ++i) {
      static_cast<void>(party[0].send(1, bytes_of_value(i), payload, 0));
      static_cast<void>(party[0].rma()->put(1, *handle, 0, from, false, 0));
      static_cast<void>(party[0].signal()->put_signal(1, *handle, 8, from, Signal{}, 0));
      party[0].poll(inbox);
      party[1].poll(inbox);
    }
    EXPECT_EQ(allocations(), before) << "seed " << seed;
    EXPECT_GT(inbox.calls, 1000) << "seed " << seed;
  }
  const auto before = allocations();
  const LoopParty another(2);
  EXPECT_GT(allocations(), before) << "the counter does not count";
}

TEST(LoopEntry, RefusesAJobOfSeveralProcessesAndSaysWhy) {
  std::string said;
  core::Log log(core::LogLevel::error, [&said](core::LogLevel, std::string_view line) { said = line; });
  const Config config;
  core::Process process;
  process.config = &config;
  process.log = &log;
  process.ranks = 3;
  process.mine = {0, 1};
  EXPECT_TRUE(loop_entry.probe(config).usable);
  EXPECT_EQ(loop_entry.make(process).status().code(), ErrorCode::not_supported);
  EXPECT_NE(said.find("holds 2 of the job's 3 ranks"), std::string::npos) << said;
}

TEST(LoopEntry, BuildsANetworkAsTheSettingsSay) {
  Config config;
  for (const SettingInfo& setting : loop_entry.settings) {
    if (setting.name == "loop_native") {
      EXPECT_TRUE(config.set(setting.name, "all"));
    } else if (setting.name == "loop_packet") {
      EXPECT_TRUE(config.set(setting.name, "2K"));
      EXPECT_FALSE(Config(config).set(setting.name, "255"));
    }
  }
  core::Log log(core::LogLevel::off, [](core::LogLevel, std::string_view) {});
  core::Process process;
  process.config = &config;
  process.log = &log;
  process.ranks = 1;
  process.mine = {0};
  auto network = loop_entry.make(process);
  ASSERT_TRUE(network);
  auto conduit = (*network)->open(0);
  ASSERT_TRUE(conduit);
  EXPECT_EQ((*conduit)->properties().max_packet, 2048u);
  EXPECT_NE((*conduit)->cross_map(), nullptr);
}

}  // namespace
}  // namespace aqueduct::conduits::loop
