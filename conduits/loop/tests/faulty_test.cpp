#include "conduits/loop/tests/party.hpp"
#include "tests/conformance/faults/faulty.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace aqueduct::conduits::loop {
namespace {

using conformance::FaultPlan;
using conformance::FaultyNetwork;
using core::Post;
using ::testing::ElementsAre;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

class FaultyParty {
 public:
  FaultyParty(Rank ranks, const FaultPlan& plan, const LoopOptions& options = {})
      : network_(std::make_unique<LoopNetwork>(ranks, options, nullptr, core::kSystemClock), ranks, plan),
        party_(network_, ranks) {}

  Party* operator->() noexcept { return &party_; }
  core::Conduit& operator[](Rank rank) noexcept { return party_[rank]; }
  FaultyNetwork& network() noexcept { return network_; }

  /// Sends the numbers 0 … count - 1 from rank 0 to rank 1, and polls when refused. Returns the number of refusals.
  int send_numbers(int count) {
    payloads_.assign(static_cast<std::size_t>(count), 0);
    int refused = 0;
    for (int i = 0; i < count; ++i) {
      payloads_[static_cast<std::size_t>(i)] = i;
      const auto payload = bytes_of_value(payloads_[static_cast<std::size_t>(i)]);
      while (party_[0].send(1, bytes_of_text("n"), payload, static_cast<core::Token>(i)).kind ==
             Post::Kind::retry) {
        ++refused;
        party_.poll_until_quiet();
      }
    }
    party_.poll_until_quiet(/*quiet_rounds=*/60);
    return refused;
  }
  /// The numbers that rank 1 received, in order.
  std::vector<int> received() {
    std::vector<int> numbers;
    for (const auto& [from, packet] : party_.inbox(1).packets) {
      int number = -1;
      if (packet.size() == 1 + sizeof number) std::memcpy(&number, packet.data() + 1, sizeof number);
      numbers.push_back(number);
    }
    return numbers;
  }
  std::vector<int>& payloads() noexcept { return payloads_; }

 private:
  FaultyNetwork network_;
  Party party_;
  std::vector<int> payloads_;
};

std::vector<int> up_to(int count) {
  std::vector<int> numbers;
  for (int i = 0; i < count; ++i) numbers.push_back(i);
  return numbers;
}

TEST(FaultyWithinTheContract, DeliversEverythingOnce) {
  const FaultPlan plans[] = {
      {.refuse = 0.5},  {.delay = 0.5},
      {.reorder = 0.5}, {.repair = 0.2},
      {.post = 0.5},    {.refuse = 0.3, .delay = 0.3, .reorder = 0.3, .repair = 0.1, .post = 0.3}};
  for (const FaultPlan& plan : plans) {
    FaultyParty party(2, plan);
    const int refused = party.send_numbers(200);
    auto numbers = party.received();
    const bool disturbed = numbers != up_to(200) || refused > 0;
    EXPECT_TRUE(disturbed) << "the plan did nothing";
    std::sort(numbers.begin(), numbers.end());
    EXPECT_EQ(numbers, up_to(200));
  }
}

TEST(FaultyWithinTheContract, NeverRefusesMoreOftenInARowThanPlanned) {
  FaultyParty party(2, {.refuse = 1, .refusals_in_a_row = 4});
  EXPECT_EQ(party.send_numbers(10), 40);
  EXPECT_EQ(party.received(), up_to(10));
}

TEST(FaultyWithinTheContract, CompletesWhatItPostedOnceAndReadsThePayloadUntilThen) {
  FaultyParty party(2, {.post = 1});
  EXPECT_FALSE(party[0].properties().copies);
  std::string text = "first";
  ASSERT_EQ(party[0].send(1, bytes_of_text("h"), bytes_of_text(text), 7).kind, Post::Kind::posted);
  text = "later";
  party->poll_until_quiet(20);
  EXPECT_THAT(party->inbox(1).packets, ElementsAre(Pair(0, "hlater")));
  EXPECT_THAT(party->inbox(0).ends, ElementsAre(Pair(7, Status{})));
}

TEST(FaultyWithinTheContract, RepeatsUnderItsSeed) {
  const auto run = [](std::uint64_t seed) {
    FaultyParty party(2, {.seed = seed, .delay = 0.5, .reorder = 0.2});
    party.send_numbers(60);
    return party.received();
  };
  EXPECT_EQ(run(5), run(5));
  EXPECT_NE(run(5), run(6));
}

TEST(FaultyAgainstTheContract, Loses) {
  FaultyParty party(2, {.lose = 0.5});
  party.send_numbers(60);
  EXPECT_GT(party.received().size(), 10u);
  EXPECT_LT(party.received().size(), 50u);
}

TEST(FaultyAgainstTheContract, Duplicates) {
  FaultyParty party(2, {.duplicate = 1});
  party.send_numbers(10);
  std::map<int, int> times;
  for (const int number : party.received()) ++times[number];
  ASSERT_EQ(times.size(), 10u);
  for (const auto& [number, count] : times) EXPECT_EQ(count, 2) << number;
  EXPECT_TRUE(party->inbox(0).ends.empty());
}

TEST(FaultyAgainstTheContract, CorruptsOneByteOfTheCopyOnly) {
  FaultyParty party(2, {.corrupt = 1});
  const std::string sent(100, 'a');
  ASSERT_EQ(party[0].send(1, {}, bytes_of_text(sent), 0).kind, Post::Kind::done);
  party->poll_until_quiet();
  ASSERT_EQ(party->inbox(1).packets.size(), 1u);
  const std::string& got = party->inbox(1).packets[0].second;
  EXPECT_EQ(std::count(got.begin(), got.end(), 'a'), 99);
  EXPECT_EQ(sent, std::string(100, 'a'));
}

TEST(FaultyAgainstTheContract, Misdelivers) {
  FaultyParty party(3, {.misdeliver = 1});
  ASSERT_EQ(party[0].send(1, bytes_of_text("lost my way"), {}, 0).kind, Post::Kind::done);
  party->poll_until_quiet();
  EXPECT_TRUE(party->inbox(1).packets.empty());
  EXPECT_THAT(party->inbox(2).packets, ElementsAre(Pair(0, "lost my way")));
}

TEST(FaultyAgainstTheContract, NeverCompletes) {
  FaultyParty party(2, {.no_completion = 1});
  ASSERT_EQ(party[0].send(1, bytes_of_text("x"), {}, 3).kind, Post::Kind::posted);
  party->poll_until_quiet(20);
  EXPECT_EQ(party->inbox(1).packets.size(), 1u);
  EXPECT_TRUE(party->inbox(0).ends.empty());
}

TEST(FaultyAgainstTheContract, CompletesBeforeThePayloadWasRead) {
  FaultyParty party(2, {.complete_early = 1});
  std::string text = "right";
  ASSERT_EQ(party[0].send(1, {}, bytes_of_text(text), 0).kind, Post::Kind::done);
  text = "wrong";
  party->poll_until_quiet(20);
  EXPECT_THAT(party->inbox(1).packets, ElementsAre(Pair(0, "wrong")));
}

TEST(FaultyAgainstTheContract, OverstatesItsLargestPacket) {
  FaultyParty party(2, {.overstate = 16}, {.max_packet = 512});
  const std::string text(party[0].properties().max_packet, 'x');
  EXPECT_EQ(text.size(), 528u);
  EXPECT_EQ(party[0].send(1, {}, bytes_of_text(text), 0).why, ErrorCode::too_large);
}

TEST(FaultyNative, TouchesNativeOperationsToo) {
  const LoopOptions native{.native = LoopOptions::Native::all};
  std::uint64_t words[8] = {};
  const core::MutableBytes memory(reinterpret_cast<std::byte*>(words), sizeof words);
  const auto import = [&](FaultyParty& party) {
    return *party[0].rma()->import_key(1, *party[1].rma()->register_segment(0, memory));
  };
  const std::uint64_t value = 0x55;
  {
    FaultyParty party(2, {.post = 1}, native);
    ASSERT_EQ(party[0].rma()->put(1, import(party), 0, bytes_of_value(value), true, 4).kind,
              Post::Kind::posted);
    party->poll_until_quiet(20);
    EXPECT_EQ(words[0], 0x55u);
    EXPECT_THAT(party->inbox(0).ends, ElementsAre(Pair(4, Status{})));
  }
  {
    FaultyParty party(2, {.lose = 1}, native);
    ASSERT_EQ(party[0].rma()->put(1, import(party), 8, bytes_of_value(value), false, 4).kind,
              Post::Kind::done);
    party->poll_until_quiet(20);
    EXPECT_EQ(words[1], 0u);
  }
  {
    FaultyParty party(2, {.duplicate = 1}, native);
    const detail::AtomicCall call{AtomicOp::add, AtomicType::u64, 1, 0, nullptr};
    ASSERT_EQ(party[0].atomics()->atomic(1, import(party), 16, call, 9).kind, Post::Kind::posted);
    party->poll_until_quiet(20);
    EXPECT_EQ(words[2], 2u);
    EXPECT_THAT(party->inbox(0).ends, ElementsAre(Pair(9, Status{})));
  }
  {
    FaultyParty party(2, {.corrupt = 1}, native);
    ASSERT_EQ(party[0].signal()->put_signal(1, import(party), 24, bytes_of_value(value), {1, 1}, 2).kind,
              Post::Kind::posted);
    party->poll_until_quiet(20);
    EXPECT_NE(words[3], 0u);
    EXPECT_NE(words[3], 0x55u);
    EXPECT_EQ(party->inbox(1).signals.size(), 1u);
  }
}

TEST(FaultyNative, PassesOnOnlyWhatThePlanKeeps) {
  const LoopOptions native{.native = LoopOptions::Native::all};
  FaultyParty some(1, {.keep_signal = false, .keep_cross_map = false}, native);
  EXPECT_NE(some[0].rma(), nullptr);
  EXPECT_NE(some[0].atomics(), nullptr);
  EXPECT_EQ(some[0].signal(), nullptr);
  EXPECT_EQ(some[0].cross_map(), nullptr);
  FaultyParty bare(1, {});
  EXPECT_EQ(bare[0].rma(), nullptr) << "loop has none to pass on";
}

TEST(FaultyDeath, CutsARankOffAndTellsBothSidesOnce) {
  FaultyParty party(3, {.delay = 1, .delay_polls = 5});
  ASSERT_EQ(party[2].send(0, bytes_of_text("held back"), {}, 0).kind, Post::Kind::done);
  party.network().die(2);
  EXPECT_EQ(party[2].send(0, bytes_of_text("vanishes"), {}, 0).kind, Post::Kind::done);
  EXPECT_EQ(party[0].send(2, bytes_of_text("?"), {}, 0).why, ErrorCode::peer_lost);
  party->poll_until_quiet(20);
  party->close(2);  // the inner conduit reports this as well
  party->poll_until_quiet(20);
  EXPECT_THAT(party->inbox(0).losses, ElementsAre(2));
  EXPECT_THAT(party->inbox(1).losses, ElementsAre(2));
  EXPECT_THAT(party->inbox(2).losses, UnorderedElementsAre(0, 1));
  EXPECT_TRUE(party->inbox(0).packets.empty());
  ASSERT_EQ(party[0].send(1, bytes_of_text("still here"), {}, 0).kind, Post::Kind::done);
  party->poll_until_quiet(20);
  EXPECT_EQ(party->inbox(1).packets.size(), 1u);
}

TEST(FaultyDeath, CompletesWhatWasPostedToTheDead) {
  FaultyParty party(2, {.post = 1});
  ASSERT_EQ(party[0].send(1, bytes_of_text("x"), {}, 11).kind, Post::Kind::posted);
  party.network().die(1);
  party->poll_until_quiet(20);
  EXPECT_THAT(party->inbox(0).ends, ElementsAre(Pair(11, Status(ErrorCode::peer_lost, 1))));
}

}  // namespace
}  // namespace aqueduct::conduits::loop
