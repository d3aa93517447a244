#include <aqueduct/atomics.hpp>

#include "conduits/loop/loop_native.hpp"
#include "conduits/loop/tests/party.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace aqueduct::conduits::loop {
namespace {

using core::Post;
using ::testing::ElementsAre;
using ::testing::Pair;

/// Two ranks; rank 1 has registered 256 bytes, and rank 0 imported their key.
class LoopNativeTest : public ::testing::TestWithParam<std::uint64_t> {
 protected:
  void SetUp() override {
    ASSERT_TRUE(party_.complete());
    auto key = party_[1].rma()->register_segment(3, memory());
    ASSERT_TRUE(key);
    const auto handle = party_[0].rma()->import_key(1, *key);
    ASSERT_TRUE(handle);
    key_ = *handle;
  }
  core::MutableBytes memory() noexcept { return {reinterpret_cast<std::byte*>(words_), sizeof words_}; }
  core::NativeRma& rma() noexcept { return *party_[0].rma(); }

  std::uint64_t words_[32] = {};
  LoopParty party_{2, {.native = LoopOptions::Native::rma, .seed = GetParam(), .queue = 4}};
  std::uint64_t key_ = 0;
};

TEST_P(LoopNativeTest, PutMovesItsBytesBetweenThePostAndTheCompletion) {
  std::string text = "to be replaced";
  ASSERT_EQ(rma().put(1, key_, 8, bytes_of_text(text), false, 42).kind, Post::Kind::posted);
  EXPECT_EQ(words_[1], 0u) << "nothing may be relied on before completion";
  text = "read when done";
  party_.poll_until_quiet();
  EXPECT_THAT(party_.inbox(0).ends, ElementsAre(Pair(42, Status{})));
  EXPECT_EQ(std::memcmp(&words_[1], text.data(), text.size()), 0);
  party_.poll_until_quiet();
  EXPECT_EQ(party_.inbox(0).ends.size(), 1u) << "one completion only";
}

TEST_P(LoopNativeTest, InjectedPutIsDoneAtOnce) {
  const std::uint64_t value = 77;
  EXPECT_GE(party_[0].properties().max_inject, sizeof value);
  EXPECT_EQ(rma().put(1, key_, 0, bytes_of_value(value), true, 1).kind, Post::Kind::done);
  EXPECT_EQ(words_[0], 77u);
  party_.poll_until_quiet();
  EXPECT_TRUE(party_.inbox(0).ends.empty());
}

TEST_P(LoopNativeTest, GetReadsWhatIsThere) {
  words_[31] = 0x1234;
  std::uint64_t seen = 0;
  const core::MutableBytes to(reinterpret_cast<std::byte*>(&seen), sizeof seen);
  ASSERT_EQ(rma().get(1, key_, 31 * 8, to, 5).kind, Post::Kind::posted);
  party_.poll_until_quiet();
  EXPECT_EQ(seen, 0x1234u);
  EXPECT_THAT(party_.inbox(0).ends, ElementsAre(Pair(5, Status{})));
}

TEST_P(LoopNativeTest, SignalComesWithItsBytesAndAlsoWithNone) {
  const std::uint64_t value = 9;
  ASSERT_EQ(party_[0].signal()->put_signal(1, key_, 0, bytes_of_value(value), {2, 3}, 1).kind,
            Post::Kind::posted);
  ASSERT_EQ(party_[0].signal()->put_signal(1, key_, 0, {}, {2, 4}, 2).kind, Post::Kind::posted);
  party_.poll_until_quiet();
  EXPECT_EQ(words_[0], 9u);
  ASSERT_EQ(party_.inbox(1).signals.size(), 2u);
  std::uint64_t sum = 0;
  for (const auto& [from, signal] : party_.inbox(1).signals) {
    EXPECT_EQ(from, 0u);
    EXPECT_EQ(signal.slot, 2u);
    sum += signal.add;
  }
  EXPECT_EQ(sum, 7u);
  EXPECT_EQ(party_.inbox(0).ends.size(), 2u);
}

TEST_P(LoopNativeTest, SignalToAWordComesWithItsBytesAndAlsoWithNone) {
  const std::uint64_t value = 9;
  words_[8] = 100;
  ASSERT_TRUE(party_[0].signal()->takes_words());
  const core::RemoteWord add{key_, 64, 5, SignalOp::add};
  ASSERT_EQ(party_[0].signal()->put_signal_word(1, key_, 0, bytes_of_value(value), add, 1).kind,
            Post::Kind::posted);
  party_.poll_until_quiet();
  EXPECT_EQ(words_[0], 9u);
  EXPECT_EQ(words_[8], 105u);
  const core::RemoteWord set{key_, 64, 7, SignalOp::set};
  ASSERT_EQ(party_[0].signal()->put_signal_word(1, key_, 0, {}, set, 2).kind, Post::Kind::posted);
  party_.poll_until_quiet();
  EXPECT_EQ(words_[8], 7u);
  EXPECT_TRUE(party_.inbox(1).signals.empty());
  EXPECT_EQ(party_.inbox(0).ends.size(), 2u);
  const core::RemoteWord outside{key_, std::uint64_t{1} << 40, 1, SignalOp::add};
  EXPECT_EQ(party_[0].signal()->put_signal_word(1, key_, 0, {}, outside, 3).why, ErrorCode::out_of_range);
}

TEST_P(LoopNativeTest, SignalsWaitForRoomAtTheTarget) {
  int posted = 0;
  for (int i = 0; i < 20; ++i) {  // the target does not poll: there is room for 4 there and for 4 here
    if (party_[0].signal()->put_signal(1, key_, 0, {}, {0, 1}, 0).kind == Post::Kind::posted) ++posted;
    party_.poll(0);
  }
  EXPECT_EQ(posted, 8);
  EXPECT_EQ(party_.inbox(0).ends.size(), 4u);
  party_.poll_until_quiet(4);
  EXPECT_EQ(party_.inbox(1).signals.size(), 8u);
  EXPECT_EQ(party_.inbox(0).ends.size(), 8u);
}

template <class T>
void check_add(LoopParty& party, std::uint64_t key, std::byte* memory, AtomicType type) {
  const T start = 5;
  const T operand = 2;
  T old = 0;
  std::memcpy(memory, &start, sizeof(T));
  ASSERT_TRUE(party[0].atomics()->operations().has(AtomicOp::add, type));
  const detail::AtomicCall call{AtomicOp::add, type, detail::bits(operand), 0, &old};
  ASSERT_EQ(party[0].atomics()->atomic(1, key, 0, call, 1).kind, Post::Kind::posted);
  party.poll_until_quiet();
  T now = 0;
  std::memcpy(&now, memory, sizeof(T));
  EXPECT_EQ(old, T{5});
  EXPECT_EQ(now, T{7});
}

TEST_P(LoopNativeTest, AtomicsWorkOnAllSixTypes) {
  std::byte* place = memory().data();
  check_add<std::int32_t>(party_, key_, place, AtomicType::i32);
  check_add<std::uint32_t>(party_, key_, place, AtomicType::u32);
  check_add<std::int64_t>(party_, key_, place, AtomicType::i64);
  check_add<std::uint64_t>(party_, key_, place, AtomicType::u64);
  check_add<float>(party_, key_, place, AtomicType::f32);
  check_add<double>(party_, key_, place, AtomicType::f64);
  EXPECT_TRUE(party_[0].atomics()->operations().has(AtomicOp::min, AtomicType::f64));
  EXPECT_FALSE(party_[0].atomics()->operations().has(AtomicOp::bit_or, AtomicType::f64));
  EXPECT_TRUE(party_[0].atomics()->operations().has(AtomicOp::compare_swap, AtomicType::i32));
}

TEST_P(LoopNativeTest, CompareSwapComparesAndNullResultIsLegal) {
  words_[0] = 10;
  detail::AtomicCall call{AtomicOp::compare_swap, AtomicType::u64, 11, 10, nullptr};
  ASSERT_EQ(party_[0].atomics()->atomic(1, key_, 0, call, 1).kind, Post::Kind::posted);
  party_.poll_until_quiet();
  EXPECT_EQ(words_[0], 11u);
  call.operand = 12;
  ASSERT_EQ(party_[0].atomics()->atomic(1, key_, 0, call, 2).kind, Post::Kind::posted);
  party_.poll_until_quiet();
  EXPECT_EQ(words_[0], 11u) << "10 was expected there, so nothing may change";
}

TEST_P(LoopNativeTest, AnswersRetryWhenItsQueueIsFull) {
  const std::uint64_t value = 1;
  for (int i = 0; i < 4; ++i) {
    ASSERT_EQ(rma().put(1, key_, 0, bytes_of_value(value), false, 0).kind, Post::Kind::posted);
  }
  EXPECT_EQ(rma().put(1, key_, 0, bytes_of_value(value), false, 0).kind, Post::Kind::retry);
  party_.poll_until_quiet();
  EXPECT_EQ(party_.inbox(0).ends.size(), 4u);
}

TEST_P(LoopNativeTest, RefusesAddressesOutsideTheSegment) {
  const std::uint64_t value = 1;
  EXPECT_EQ(rma().put(1, key_, 249, bytes_of_value(value), false, 0).why, ErrorCode::out_of_range);
  EXPECT_EQ(rma().put(1, key_, ~std::uint64_t{0}, bytes_of_value(value), true, 0).why,
            ErrorCode::out_of_range);
  EXPECT_EQ(rma().put(2, key_, 0, bytes_of_value(value), true, 0).why, ErrorCode::out_of_range);
  EXPECT_EQ(rma().put(1, key_, 256, {}, false, 0).kind, Post::Kind::posted);
  const detail::AtomicCall call{AtomicOp::add, AtomicType::u64, 1, 0, nullptr};
  EXPECT_EQ(party_[0].atomics()->atomic(1, key_, 4, call, 0).why, ErrorCode::misaligned);
  const std::vector<std::byte> strange(3);
  EXPECT_EQ(rma().import_key(1, strange).status().code(), ErrorCode::not_supported);
}

TEST_P(LoopNativeTest, CompletesWithPeerLostWhenTheTargetCloses) {
  const std::uint64_t value = 1;
  ASSERT_EQ(rma().put(1, key_, 0, bytes_of_value(value), false, 6).kind, Post::Kind::posted);
  party_.close(1);
  party_.poll_until_quiet();
  EXPECT_THAT(party_.inbox(0).ends, ElementsAre(Pair(6, Status(ErrorCode::peer_lost, 1))));
  EXPECT_EQ(words_[0], 0u);
  EXPECT_EQ(rma().put(1, key_, 0, bytes_of_value(value), false, 7).why, ErrorCode::peer_lost);
}

INSTANTIATE_TEST_SUITE_P(InOrderAndShuffled, LoopNativeTest, ::testing::Values(0, 4));

TEST(LoopCrossMap, GivesZeroedPagesThatOutliveTheirOwner) {
  LoopParty party(2, {.native = LoopOptions::Native::all});
  auto memory = party[0].cross_map()->allocate(0, 5000);
  ASSERT_TRUE(memory);
  ASSERT_EQ(memory->size(), 5000u);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory->data()) % 4096, 0u);
  for (const std::byte byte : *memory) ASSERT_EQ(byte, std::byte{0});
  const auto key = party[0].cross_map()->export_map(0, *memory, true);
  const auto mapped = party[1].cross_map()->map(0, key, 5000);
  ASSERT_TRUE(mapped);
  EXPECT_EQ(*mapped, memory->data());
  party.close(0);
  EXPECT_EQ((*mapped)[4999], std::byte{0});
}

TEST(LoopCrossMap, BearsNothingAndRefusesTooMuch) {
  LoopParty party(1, {.native = LoopOptions::Native::all});
  auto none = party[0].cross_map()->allocate(0, 0);
  ASSERT_TRUE(none);
  EXPECT_TRUE(none->empty());
  EXPECT_FALSE(party[0].cross_map()->export_map(0, *none, true).empty());
  EXPECT_EQ(party[0].cross_map()->allocate(1, std::size_t{1} << 60).status().code(), ErrorCode::no_memory);
}

TEST(LoopNative, OffersWhatTheSettingSays) {
  LoopParty bare(1);
  EXPECT_TRUE(bare[0].rma() == nullptr && bare[0].signal() == nullptr && bare[0].atomics() == nullptr);
  EXPECT_EQ(bare[0].cross_map(), nullptr);
  LoopParty rma(1, {.native = LoopOptions::Native::rma});
  EXPECT_TRUE(rma[0].rma() != nullptr && rma[0].signal() != nullptr && rma[0].atomics() != nullptr);
  EXPECT_EQ(rma[0].cross_map(), nullptr);
}

}  // namespace
}  // namespace aqueduct::conduits::loop
