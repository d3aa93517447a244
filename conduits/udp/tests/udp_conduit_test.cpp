// Whole conduits of one process over the loopback interface: behaviour that concerns more than one connection.

#include "conduits/udp/tests/conduit_party.hpp"
#include "tests/support/manual_clock.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string>

#include <sys/socket.h>

namespace aqueduct::conduits::udp::connection_tests {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using Kind = core::Post::Kind;

std::uint64_t import_from_one(ConduitParty& party, core::MutableBytes memory) {
  auto exported = party.conduit(1).rma()->register_segment(3, memory);
  EXPECT_TRUE(exported);
  auto imported = party.conduit(0).rma()->import_key(1, *exported);
  EXPECT_TRUE(imported);
  return *imported;
}

void expect_out_of_range(const core::Post& post) {
  EXPECT_EQ(post.kind, Kind::failed);
  EXPECT_EQ(post.why, ErrorCode::out_of_range);
}

TEST(UdpConduit, RefusesPutsAndGetsBeyondASegmentAndNamesTheNumbers) {
  ConduitParty party(2);
  std::vector<std::byte> memory(1000), eight(8, std::byte{1}), much(1001);
  const std::uint64_t key = import_from_one(party, memory);
  core::Conduit& mine = party.conduit(0);
  expect_out_of_range(mine.rma()->put(1, key, 993, eight, false, 1));
  EXPECT_THAT(party.take_said(),
              HasSubstr("put of 8 bytes at offset 993 of segment 3 of rank 1, which has 1000"));
  expect_out_of_range(mine.rma()->put(1, key, UINT64_MAX - 3, eight, false, 2));
  expect_out_of_range(mine.rma()->put(1, key, 0, much, false, 3));
  expect_out_of_range(mine.signal()->put_signal(1, key, 1000, eight, {.slot = 1, .add = 1}, 4));
  EXPECT_THAT(party.take_said(), HasSubstr("put of 8 bytes at offset 1000"));
  expect_out_of_range(mine.rma()->get(1, key, 1, much, 5));
  EXPECT_THAT(party.take_said(), HasSubstr("get of 1001 bytes at offset 1 of segment 3"));
  ASSERT_EQ(mine.rma()->put(1, key, 992, eight, false, 6).kind, Kind::posted);
  ASSERT_TRUE(party.poll_until([&] { return party.inbox(0).completions.size() == 1; }));
  EXPECT_EQ(party.inbox(0).completions[0].token, 6u);
  EXPECT_TRUE(party.inbox(0).completions[0].status);
  EXPECT_EQ(memory[999], std::byte{1});
  EXPECT_EQ(party.take_said(), "");
}

TEST(UdpConduit, SaysWhatWasWantedOfASegmentThatHasEnded) {
  ConduitParty party(2);
  std::vector<std::byte> memory(1000), eight(8);
  const std::uint64_t key = import_from_one(party, memory);
  party.conduit(1).rma()->unregister_segment(3);
  ASSERT_EQ(party.conduit(0).rma()->get(1, key, 16, eight, 1).kind, Kind::posted);
  ASSERT_TRUE(party.poll_until([&] { return party.inbox(0).completions.size() == 1; }));
  EXPECT_EQ(party.inbox(0).completions[0].status.code(), ErrorCode::out_of_range);
  EXPECT_THAT(party.take_said(),
              AllOf(HasSubstr("rank 0 began a get of 8 bytes at offset 16 of segment 3 of rank 1"),
                    HasSubstr("0 bytes there now")));
}

TEST(UdpConduit, UpdatesAWordOfAPeerAndIsAcknowledged) {
  ConduitParty party(2);
  alignas(8) std::array<std::byte, 64> memory{};
  const std::uint64_t key = import_from_one(party, memory);
  core::NativeUpdates& updates = *party.conduit(0).updates();
  const detail::AtomicCall add{.op = AtomicOp::add, .type = AtomicType::u32, .operand = 5};
  for (core::Token token = 1; token <= 100; ++token) {
    ASSERT_EQ(updates.update(1, key, 60, add, token).kind, Kind::posted);
  }
  ASSERT_TRUE(party.poll_until([&] { return party.inbox(0).completions.size() == 100; }));
  for (const auto& completion : party.inbox(0).completions) EXPECT_TRUE(completion.status);
  std::uint32_t sum = 0;
  std::memcpy(&sum, memory.data() + 60, sizeof sum);
  EXPECT_EQ(sum, 500u);
  EXPECT_EQ(party.inbox(1).packets, 0) << "an update is no message";
  expect_out_of_range(updates.update(1, key, 64, add, 101));
  EXPECT_THAT(party.take_said(),
              HasSubstr("atomic of 4 bytes at offset 64 of segment 3 of rank 1, which has 64"));
}

TEST(UdpConduit, SaysThatAnUpdateMetNoWordThere) {
  ConduitParty party(2);
  alignas(8) std::array<std::byte, 64> memory{};
  const std::uint64_t key = import_from_one(party, memory);
  const detail::AtomicCall add{.op = AtomicOp::add, .type = AtomicType::u64, .operand = 5};
  ASSERT_EQ(party.conduit(0).updates()->update(1, key, 12, add, 1).kind, Kind::posted);  // not aligned
  ASSERT_TRUE(party.poll_until([&] { return party.inbox(0).completions.size() == 1; }));
  EXPECT_TRUE(party.inbox(0).completions[0].status) << "the initiator is not told";
  EXPECT_TRUE(std::ranges::all_of(memory, [](std::byte one) { return one == std::byte{0}; }));
  EXPECT_THAT(party.take_said(),
              HasSubstr("rank 0 began a word's atomic of 8 bytes at offset 12 of segment 3 of rank 1"));
}

// Much of a long put may have been written already, so the message must not claim that nothing was.
TEST(UdpConduit, SaysThatAPutMetASegmentThatHasEndedAndRaisesNoSignal) {
  ConduitParty party(2);
  std::vector<std::byte> memory(100'000), from(100'000);
  const std::uint64_t key = import_from_one(party, memory);
  party.conduit(1).rma()->unregister_segment(3);
  ASSERT_EQ(party.conduit(0).signal()->put_signal(1, key, 0, from, {.slot = 1, .add = 1}, 1).kind,
            Kind::posted);
  ASSERT_TRUE(party.poll_until([&] { return party.inbox(0).completions.size() == 1; }));
  EXPECT_TRUE(party.inbox(1).signals.empty());
  EXPECT_THAT(party.take_said(),
              AllOf(HasSubstr("rank 0 began a put of"), HasSubstr("of segment 3 of rank 1"),
                    HasSubstr("not all of it was done")));
}

// While one conduit ends, nobody polls the others. Without a progress thread it must poll them, or they never
// acknowledge.
TEST(UdpConduit, EndsAtOnceThoughOthersOfItsProcessHaveNotYetAcknowledged) {
  constexpr Rank kRanks = 4;
  ConduitParty party(kRanks, {{"udp_progress", "0"}});
  const std::vector<std::byte> header(16), payload(100);
  for (Rank from = 0; from < kRanks; ++from) {
    for (Rank to = 0; to < kRanks; ++to) {
      EXPECT_EQ(party.conduit(from).send(to, header, payload, 0).kind, Kind::done);
    }
  }
  const auto began = std::chrono::steady_clock::now();
  for (Rank rank = 0; rank < kRanks; ++rank) party.end(rank);
  // Without acknowledgements a conduit would wait for half a second.
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::milliseconds(400));
}

// A datagram that another conduit took out of the owner's socket would not wake the owner. So the conduit that ends
// leaves it there, and waits its half second without an acknowledgement.
TEST(UdpConduit, LeavesASleepingOwnerOfItsProcessWhatWouldWakeIt) {
  ConduitParty party(2, {{"udp_progress", "0"}});
  const std::vector<std::byte> header(16);
  party.conduit(1).waitable()->arm();
  party.conduit(1).poll(party.inbox(1));
  EXPECT_EQ(party.conduit(0).send(1, header, {}, 0).kind, Kind::done);
  const auto began = std::chrono::steady_clock::now();
  party.end(0);
  EXPECT_GE(std::chrono::steady_clock::now() - began, std::chrono::milliseconds(400));
  EXPECT_EQ(party.inbox(1).packets, 0);
  party.conduit(1).waitable()->disarm();
  EXPECT_TRUE(party.poll_until([&] { return party.inbox(1).packets == 1; }));
}

TEST(UdpConduit, BeginsWithPacketsThatThePeersInterfaceCarriesToo) {
  constexpr std::size_t kBase = 3;  // where an address has an eighth of it
  const std::vector<std::byte> message(8);
  for (const std::size_t bytes : {576u, 1200u}) {
    ConduitParty party(2, {{"udp_progress", "0"}}, {}, [&](ConduitParty::Addresses& addresses) {
      EXPECT_EQ(addresses[1][kBase], std::byte{1200 / 8});
      addresses[1][kBase] = static_cast<std::byte>(bytes / 8);
    });
    EXPECT_EQ(party.conduit(0).send(1, message, {}, 0).kind, Kind::done);
    EXPECT_THAT(party.conduit(0).state_of(1), HasSubstr("packet size " + std::to_string(bytes)));
  }
  ConduitParty small(2, {{"udp_packet", "576"}}, {}, [&](ConduitParty::Addresses& addresses) {
    EXPECT_EQ(addresses[0][kBase], std::byte{576 / 8}) << "the setting counts as the interface does";
  });
}

TEST(UdpConduit, WarnsOnceOfATimeoutThatEndsBeforeTheThreadAnswers) {
  EXPECT_EQ(ConduitParty(2, {{"udp_progress", "1s"}, {"udp_timeout", "4s"}}).take_said(), "");
  EXPECT_EQ(ConduitParty(2, {{"udp_progress", "0"}, {"udp_timeout", "100ms"}}).take_said(), "");
  const std::string said = ConduitParty(2, {{"udp_progress", "1s"}, {"udp_timeout", "3999ms"}}).take_said();
  EXPECT_THAT(said,
              AllOf(HasSubstr("AQUEDUCT_UDP_TIMEOUT=3999 ms"), HasSubstr("AQUEDUCT_UDP_PROGRESS=1000 ms")));
  EXPECT_EQ(std::ranges::count(said, '\n'), 1) << said;
}

/// Two ranks whose time a test moves on. Rank 1 never polls. Rank 0 has just sent it a message.
class UdpConduitInVirtualTime : public testing::Test {
 protected:
  UdpConduitInVirtualTime() {
    const std::vector<std::byte> header(16);
    EXPECT_EQ(mine().send(1, header, {}, 0).kind, Kind::done);
  }
  ~UdpConduitInVirtualTime() override { clock_.let_run(); }
  core::Conduit& mine() { return party_.conduit(0); }
  ConduitParty::Inbox& inbox() { return party_.inbox(0); }
  void move_on(std::chrono::nanoseconds by) {
    clock_.move_on(by);
    mine().poll(inbox());
  }

  support::ManualClock clock_;
  ConduitParty party_{2, {{"udp_progress", "0"}, {"udp_timeout", "5s"}}, clock_.clock()};
};

TEST_F(UdpConduitInVirtualTime, RetransmitsOnlyAfterTheClockHasMoved) {
  const auto within = mine().waitable()->within();
  EXPECT_GT(within.count(), 0);
  // In real time the first retransmission would come within 50 ms.
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(100);
  while (std::chrono::steady_clock::now() < end) mine().poll(inbox());
  EXPECT_THAT(mine().state_of(1), HasSubstr("retransmitted 0,"));
  EXPECT_EQ(mine().waitable()->within(), within);
  move_on(std::chrono::seconds(1));
  EXPECT_THAT(mine().state_of(1), HasSubstr("retransmitted 1,"));
}

TEST_F(UdpConduitInVirtualTime, LosesASilentPeerWhenTheClockSaysSo) {
  const auto began = std::chrono::steady_clock::now();
  // Steps of less than a quarter of the timeout: after a longer one the silence would count as this rank's own.
  for (int second = 0; second < 4; ++second) move_on(std::chrono::seconds(1));
  EXPECT_TRUE(inbox().losses.empty());
  move_on(std::chrono::seconds(1));
  EXPECT_EQ(inbox().losses, std::vector<Rank>{1});
  EXPECT_THAT(party_.take_said(), AllOf(HasSubstr("has not been heard for 5.0 s"),
                                        HasSubstr("No valid packet of it has ever arrived")));
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(4)) << "that was real time";
}

// A socket that is shut down refuses what it should send, as a firewall or a lost route would.
TEST_F(UdpConduitInVirtualTime, SaysOfALostPeerWhatTheSystemRefused) {
  ASSERT_EQ(::shutdown(mine().waitable()->descriptor(), SHUT_WR), 0);
  for (int second = 0; second < 5; ++second) move_on(std::chrono::seconds(1));
  EXPECT_EQ(inbox().losses, std::vector<Rank>{1});
  const std::string why = std::strerror(EPIPE);
  const std::string said = party_.take_said();
  EXPECT_THAT(said, HasSubstr("this system refuses to send to 127.0.0.1:"));
  EXPECT_THAT(said, HasSubstr("taken for lost; "));
  EXPECT_THAT(said, HasSubstr("datagrams refused by this system, last: " + why));
  EXPECT_THAT(mine().state_of(1), HasSubstr("datagrams refused by this system, last: " + why));
}

}  // namespace
}  // namespace aqueduct::conduits::udp::connection_tests
