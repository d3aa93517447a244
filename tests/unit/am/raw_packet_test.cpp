// Raw messages as packets: what no correct peer sends is dropped and counted, and the numbers of spaces.

#include <aqueduct/aqueduct.hpp>

#include "am/messages.hpp"
#include "am/wire.hpp"
#include "tests/support/loop_job.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace aqueduct::am {
namespace {

class RawPacket : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_NO_FATAL_FAILURE(support::start_over_loop(job_, 2));
    auto space = HandlerSpace::create(me(), "unit");
    ASSERT_TRUE(space);
    ASSERT_TRUE(space->add(7, [this](RawContext& message) {
      ++handled_;
      for (const std::uint32_t word : message.words()) sum_ += word;
      for (const std::byte one : message.payload()) sum_ += static_cast<std::uint64_t>(one);
      if (message.is_request()) static_cast<void>(message.reply_medium({7}, message.payload()));
    }));
  }
  Endpoint& me() { return job_->endpoint(0); }

  static PacketHeader header(AmCategory category, std::uint16_t args_bytes, std::uint32_t payload = 0) {
    const std::uint32_t space = RawSpaces::number_of("unit");
    return {is_request(category) ? PacketKind::request : PacketKind::reply,
            category,
            static_cast<HandlerId>(space),
            0,
            args_bytes,
            payload,
            raw_word(space, 7, 1)};
  }
  void say(const PacketHeader& header, std::size_t more, const LongTarget* target = nullptr) {
    std::vector<std::byte> bytes(sizeof header + more, std::byte{1});
    std::memcpy(bytes.data(), &header, sizeof header);
    if (target != nullptr) std::memcpy(bytes.data() + sizeof header, target, sizeof *target);
    me().state().messages->packet(1, bytes);
  }
  void expect_rejected(const char* what, const PacketHeader& header, std::size_t more,
                       const LongTarget* target = nullptr) {
    const auto before = me().statistics().rejected;
    say(header, more, target);
    EXPECT_EQ(me().statistics().rejected, before + 1) << what;
    EXPECT_EQ(handled_, 0) << what;
  }

  std::optional<Job> job_;
  int handled_ = 0;
  std::uint64_t sum_ = 0;
};

TEST_F(RawPacket, IsDroppedAndCountedIfItIsWrong) {
  const auto good = header(AmCategory::short_request, 8);
  expect_rejected("words cut short", good, 7);
  expect_rejected("a byte too many", good, 9);
  expect_rejected("half a word", header(AmCategory::short_request, 6), 8);
  expect_rejected("17 words", header(AmCategory::short_request, 68), 72);
  expect_rejected("more words than a packet has", header(AmCategory::short_request, 65532), 8);
  expect_rejected("a payload that is not there", header(AmCategory::medium_request, 8, UINT32_MAX), 8);
  expect_rejected("a short message with a payload", header(AmCategory::short_request, 8, 8), 16);
  expect_rejected("no category", header(static_cast<AmCategory>(200), 8), 8);
  auto wrong = good;
  wrong.kind = PacketKind::reply;
  expect_rejected("a request that says it is a reply", wrong, 8);
  wrong = good;
  wrong.handler = static_cast<HandlerId>(good.handler + 1);
  expect_rejected("no such space", wrong, 8);
  wrong = good;
  wrong.raw += 1u << 16;
  expect_rejected("no such number", wrong, 8);
  wrong = good;
  wrong.raw &= 0xffffff;
  expect_rejected("a space without its high bits", wrong, 8);
  const LongTarget outside{4089, 8, 0, 0};
  expect_rejected("a target outside the segment", header(AmCategory::long_request, 8, 8), sizeof outside + 16,
                  &outside);
  for (const std::byte b : me().segment()) ASSERT_EQ(b, std::byte{0});
}

TEST_F(RawPacket, AGoodOneOfEachCategoryArrives) {
  const LongTarget target{8, 8, 0, 0};
  say(header(AmCategory::short_request, 0), 0);
  say(header(AmCategory::medium_request, 64, 5), 69);
  say(header(AmCategory::long_request, 4, 8), sizeof target + 16, &target);
  say(header(AmCategory::short_reply, 8), 8);
  say(header(AmCategory::medium_reply, 8, 1), 9);
  say(header(AmCategory::long_reply, 8, 8), sizeof target + 16, &target);
  EXPECT_EQ(handled_, 6);
  EXPECT_EQ(me().statistics().rejected, 0u);
}

// It does not crash. A sanitizer also checks that nothing beyond the packet is read.
TEST_F(RawPacket, OfRandomBytesDoesNoHarm) {
  const unsigned seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  for (int i = 0; i < 50'000; ++i) {
    auto one = header(static_cast<AmCategory>(random() % 8), static_cast<std::uint16_t>(random() % 72));
    one.kind = static_cast<PacketKind>(random() % 4);
    one.payload_bytes = random() % 3 == 0 ? static_cast<std::uint32_t>(random()) : random() % 64;
    if (random() % 8 == 0) one.raw = static_cast<std::uint32_t>(random()) | 1;
    const LongTarget target{random() % 5000, random() % 100, static_cast<SegmentId>(random() % 3), 0};
    const bool with_target = random() % 2 == 0;
    say(one, (with_target ? sizeof target : 0) + random() % 100, with_target ? &target : nullptr);
  }
  EXPECT_LE(me().state().messages->credits_left(1), me().state().messages->credits_per_peer());
}

TEST(RawSpaceNumbers, AreNeverALayersAndRarelyTheSame) {
  std::set<std::uint32_t> numbers;
  for (int i = 0; i < 100'000; ++i) {
    const std::uint32_t number = RawSpaces::number_of("client " + std::to_string(i));
    ASSERT_GE(number & 0xffff, kFirstUserHandler);
    ASSERT_EQ(number >> 23, 1u);
    numbers.insert(number);
    PacketHeader header{};
    header.handler = static_cast<HandlerId>(number);
    header.raw = raw_word(number, 255, 0x1234);
    ASSERT_EQ(raw_space(header), number);
    ASSERT_EQ(raw_number(header), 255);
    ASSERT_EQ(raw_tag(header), 0x1234);
  }
  // Of 100,000 random numbers of 23 bits, some 600 are taken twice.
  EXPECT_GT(numbers.size(), 98'500u);
}

}  // namespace
}  // namespace aqueduct::am
