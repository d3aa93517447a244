// Packets that no correct peer sends are dropped and counted, whatever they contain.

#include <aqueduct/aqueduct.hpp>

#include "am/messages.hpp"
#include "am/wire.hpp"
#include "tests/support/loop_job.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <vector>

namespace aqueduct::am {
namespace {

class MalformedPacket : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_NO_FATAL_FAILURE(support::start_over_loop(job_, 2));
    const auto short_one = on_short_request<std::uint64_t>(me(), [this](auto&, const auto&) { ++handled_; });
    const auto long_one = on_long_request<std::uint64_t>(
        me(), [this](auto&, const auto&, std::span<std::byte>) { ++handled_; });
    ASSERT_TRUE(short_one && long_one);
    short_ = short_one->id;
    long_ = long_one->id;
  }
  Endpoint& me() { return job_->endpoint(0); }

  /// A packet: the header, then `more` zero bytes, in memory of exactly its size.
  std::vector<std::byte> packet(const PacketHeader& header, std::size_t more) {
    std::vector<std::byte> made(sizeof header + more);
    std::memcpy(made.data(), &header, sizeof header);
    return made;
  }
  void expect_rejected(const std::vector<std::byte>& bytes, const std::string& what) {
    const auto before = me().statistics().rejected;
    me().state().messages->packet(1, bytes);
    EXPECT_EQ(me().statistics().rejected, before + 1) << what;
    EXPECT_EQ(handled_, 0) << what;
  }
  PacketHeader good() const { return {PacketKind::request, AmCategory::short_request, short_, 0, 8, 0, 0}; }

  std::optional<Job> job_;
  int handled_ = 0;
  HandlerId short_ = 0;
  HandlerId long_ = 0;
};

TEST_F(MalformedPacket, IsDroppedAndCounted) {
  for (std::size_t bytes = 0; bytes < sizeof(PacketHeader); ++bytes) {
    expect_rejected(std::vector<std::byte>(bytes), std::to_string(bytes) + " bytes");
  }
  expect_rejected(packet(good(), 7), "arguments cut short");
  expect_rejected(packet(good(), 9), "a byte too many");
  auto header = good();
  header.handler = 60000;
  expect_rejected(packet(header, 8), "no such handler");
  header = good();
  header.handler = static_cast<HandlerId>(long_ + 1);
  expect_rejected(packet(header, 8), "a handler that is not registered");
  header = good();
  header.category = AmCategory::medium_request;
  expect_rejected(packet(header, 8), "another category");
  header = good();
  header.category = static_cast<AmCategory>(200);
  expect_rejected(packet(header, 8), "no category");
  header = good();
  header.kind = PacketKind::reply;
  expect_rejected(packet(header, 8), "a request that says it is a reply");
  header = good();
  header.args_bytes = 16;
  expect_rejected(packet(header, 16), "another argument struct");
  header = good();
  header.payload_bytes = UINT32_MAX;
  expect_rejected(packet(header, 8), "a payload that is not there");
}

TEST_F(MalformedPacket, WithALongTargetOutsideTheSegmentWritesNothing) {
  const PacketHeader header{PacketKind::request, AmCategory::long_request, long_, 0, 8, 8, 0};
  for (const LongTarget& target :
       {LongTarget{4089, 8, 0, 0}, LongTarget{UINT64_MAX - 3, 8, 0, 0}, LongTarget{0, UINT64_MAX, 0, 0},
        LongTarget{0, 16, 0, 0}, LongTarget{0, 8, 99, 0}}) {
    auto bytes = packet(header, sizeof target + 16);
    std::memcpy(bytes.data() + sizeof header, &target, sizeof target);
    std::memset(bytes.data() + sizeof header + sizeof target, 0xff, 16);
    expect_rejected(bytes, "target at " + std::to_string(target.offset));
  }
  for (const std::byte b : me().segment()) ASSERT_EQ(b, std::byte{0});
}

TEST_F(MalformedPacket, AGoodOneStillArrives) {
  me().state().messages->packet(1, packet(good(), 8));
  EXPECT_EQ(handled_, 1);
  EXPECT_EQ(me().statistics().rejected, 0u);
}

// It does not crash. A sanitizer also checks that nothing beyond the packet is read.
TEST_F(MalformedPacket, OfRandomBytesDoesNoHarm) {
  const unsigned seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  for (int i = 0; i < 100'000; ++i) {
    auto header = good();
    header.kind = static_cast<PacketKind>(random() % 4);
    header.category = static_cast<AmCategory>(random() % 8);
    header.handler = static_cast<HandlerId>(random() % (kFirstUserHandler + 4));
    header.args_bytes = static_cast<std::uint16_t>(random() % 3 == 0 ? random() : random() % 72);
    header.payload_bytes = random() % 3 == 0 ? static_cast<std::uint32_t>(random()) : random() % 64;
    header.credits = static_cast<std::uint16_t>(random());
    // Not to layers' handlers: hostile_peer_test.cpp tests these.
    if (header.handler < kFirstUserHandler) header.handler = i % 2 == 0 ? short_ : long_;
    auto bytes = packet(header, random() % 200);
    for (std::size_t at = sizeof header; at < bytes.size(); ++at)
      bytes[at] = static_cast<std::byte>(random());
    me().state().messages->packet(1, bytes);
  }
  EXPECT_LE(me().state().messages->credits_left(1), me().state().messages->credits_per_peer());
}

}  // namespace
}  // namespace aqueduct::am
