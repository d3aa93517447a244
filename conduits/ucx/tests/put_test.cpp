// The cost of a put, in calls and allocations, and what invalid puts do.

#include "conduits/loop/tests/allocation_count.hpp"
#include "conduits/ucx/tests/ucx_party.hpp"
#include "core/hidden_layout.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <span>

namespace aqueduct::conduits::ucx {
namespace {

using core::Post;
using loop::allocations;
using loop::bytes_of_value;

/// Two ranks over TCP. Rank 1 has registered memory, and rank 0 has imported its key.
class UcxPut : public ::testing::Test {
 protected:
  explicit UcxPut(const std::string& put = "auto") : party_(2, "tcp,self", "0", put) {}
  void SetUp() override {
    ASSERT_TRUE(party_.complete());
    memory_.resize(1 << 20);
    auto key = party_[1].rma()->register_segment(2, memory_);
    ASSERT_TRUE(key);
    const auto handle = party_[0].rma()->import_key(1, *key);
    ASSERT_TRUE(handle);
    key_ = *handle;
    for (auto* inbox : {&party_.inbox(0), &party_.inbox(1)}) {
      inbox->ends.reserve(10'000);
      inbox->signals.reserve(10'000);
    }
  }

  /// Puts words one after the other into the first 8 KiB, `window` at a time; or pairs of words.
  void put_words(int count, int window, std::size_t words = 1) {
    for (int i = 0; i < count; i += window) {
      for (int j = 0; j < window; ++j) {
        const auto from = std::as_bytes(std::span(kWords).first(words));
        const Post post = rma().put(1, key_, (i + j) % 1024 * from.size(), from, false, ++token_);
        ASSERT_EQ(post.kind, Post::Kind::posted);
      }
      ASSERT_TRUE(party_.poll_until([&] { return party_.inbox(0).ends.size() == token_; }));
    }
  }
  core::NativeRma& rma() { return *party_[0].rma(); }

  static constexpr std::uint64_t kWord = 0x0123456789abcdef;
  static constexpr std::array<std::uint64_t, 2> kWords{kWord, kWord};
  UcxParty party_;
  std::vector<std::byte> memory_;
  std::uint64_t key_ = 0;
  core::Token token_ = 0;
};

TEST_F(UcxPut, IsOneOperationAndOneAnswerWithoutAllocation) {
  ASSERT_NO_FATAL_FAILURE(put_words(128, 64));  // connects, and makes all first allocations
  const Counts writer = party_.ucx(0).counts();
  const Counts target = party_.ucx(1).counts();
  const auto before = allocations();
  ASSERT_NO_FATAL_FAILURE(put_words(100, 1));
  EXPECT_EQ(allocations() - before, 0u);
  EXPECT_EQ(party_.ucx(0).counts().put_messages - writer.put_messages, 100u);
  EXPECT_EQ(party_.ucx(1).counts().answers - target.answers, 100u);
  EXPECT_EQ(party_.ucx(0).counts().packets, writer.packets);
  EXPECT_EQ(party_.ucx(1).counts().packets, target.packets);
  EXPECT_EQ(party_.ucx(0).counts().puts, 0u) << "TCP has no puts of its own";
  for (const auto& [token, status] : party_.inbox(0).ends) ASSERT_TRUE(status) << status.text();
}

TEST_F(UcxPut, OfAWindowShareAnswers) {
  ASSERT_NO_FATAL_FAILURE(put_words(128, 64));
  const Counts target = party_.ucx(1).counts();
  const auto before = allocations();
  ASSERT_NO_FATAL_FAILURE(put_words(6400, 64));
  EXPECT_EQ(allocations() - before, 0u);
  EXPECT_LT(party_.ucx(1).counts().answers - target.answers, 3200u);
}

TEST_F(UcxPut, WithASignalThatNobodyWaitsForSharesItsAnswer) {
  ASSERT_NO_FATAL_FAILURE(put_words(128, 64));
  core::NativeSignal& signal = *party_[0].signal();
  const Counts target = party_.ucx(1).counts();
  const auto before = allocations();
  std::uint64_t word = kWord;
  for (std::size_t i = 1; i <= 64; ++i) {
    const auto from = std::as_bytes(std::span(&word, 1));
    ASSERT_EQ(signal.put_signal_unwaited(1, key_, 64 * i, from, {0, i}, ++token_).kind, Post::Kind::posted);
    word = 0;  // read during the call
    ASSERT_TRUE(party_.poll_until([&] { return party_.inbox(1).signals.size() == i; }));
    EXPECT_EQ(std::memcmp(memory_.data() + 64 * i, &kWord, sizeof kWord), 0);
    word = kWord;
  }
  ASSERT_TRUE(party_.poll_until([&] { return party_.inbox(0).ends.size() == token_; })) << "each has an end";
  EXPECT_LT(party_.ucx(1).counts().answers - target.answers, 32u);
  EXPECT_EQ(allocations() - before, 0u);
}

TEST_F(UcxPut, WithASignalThatNobodyWaitsForIsAnsweredBeforeASleep) {
  ASSERT_NO_FATAL_FAILURE(put_words(1, 1));
  const auto from = std::as_bytes(std::span(&kWord, 1));
  ASSERT_EQ(party_[0].signal()->put_signal_unwaited(1, key_, 0, from, {0, 1}, ++token_).kind,
            Post::Kind::posted);
  while (party_.inbox(1).signals.empty()) party_.poll(1);
  party_[1].waitable()->arm();
  party_[1].waitable()->disarm();
  for (int i = 0; i < 100'000 && party_.inbox(0).ends.size() < token_; ++i) party_.poll(0);
  EXPECT_EQ(party_.inbox(0).ends.size(), token_);
}

class UcxNetworkPut : public UcxPut {
 protected:
  UcxNetworkPut() : UcxPut("network") {}
};

TEST_F(UcxNetworkPut, IsOneOperationAndOneFlushWithoutAllocation) {
  ASSERT_NO_FATAL_FAILURE(put_words(128, 64, 2));
  const Counts writer = party_.ucx(0).counts();
  const auto before = allocations();
  ASSERT_NO_FATAL_FAILURE(put_words(100, 1, 2));
  EXPECT_EQ(allocations() - before, 0u);
  EXPECT_EQ(party_.ucx(0).counts().puts - writer.puts, 100u);
  EXPECT_EQ(party_.ucx(0).counts().flushes - writer.flushes, 100u);
  EXPECT_EQ(party_.ucx(0).counts().put_messages, 0u);
  EXPECT_EQ(party_.ucx(1).counts().answers, 0u);
  EXPECT_EQ(std::memcmp(memory_.data(), &kWord, sizeof kWord), 0);
}

TEST_F(UcxNetworkPut, OfAWindowShareAFlush) {
  ASSERT_NO_FATAL_FAILURE(put_words(128, 64, 2));
  const Counts writer = party_.ucx(0).counts();
  const auto before = allocations();
  ASSERT_NO_FATAL_FAILURE(put_words(640, 64, 2));
  EXPECT_EQ(allocations() - before, 0u);
  EXPECT_EQ(party_.ucx(0).counts().flushes - writer.flushes, 10u);
}

// docs/memory-model.md, M-1: UCX does not say how its puts store a word.
TEST_F(UcxNetworkPut, OfAWordIsAMessage) {
  ASSERT_NO_FATAL_FAILURE(put_words(10, 1));
  EXPECT_EQ(party_.ucx(0).counts().put_messages, 10u);
  EXPECT_EQ(party_.ucx(0).counts().puts, 0u);
  EXPECT_EQ(std::memcmp(memory_.data(), &kWord, sizeof kWord), 0);
}

TEST_F(UcxPut, OutsideTheSegmentEndsWithThatErrorAndChangesNothing) {
  std::fill(memory_.begin(), memory_.end(), std::byte{7});
  const std::vector<std::byte> long_one(100'000, std::byte{9});
  for (const std::size_t bytes : {std::size_t{8}, long_one.size()}) {
    const core::Bytes from(long_one.data(), bytes);
    ASSERT_EQ(rma().put(1, key_, memory_.size() - bytes + 1, from, false, ++token_).kind, Post::Kind::posted);
    ASSERT_TRUE(party_.poll_until([&] { return party_.inbox(0).ends.size() == token_; }));
    EXPECT_EQ(party_.inbox(0).ends.back().second, Status(ErrorCode::out_of_range, 1));
  }
  EXPECT_TRUE(std::ranges::all_of(memory_, [](std::byte b) { return b == std::byte{7}; }));
  ASSERT_NO_FATAL_FAILURE(put_words(1, 1));  // and the next one works
}

TEST_F(UcxPut, ToAnUnregisteredSegmentEndsWithAnError) {
  ASSERT_NO_FATAL_FAILURE(put_words(1, 1));
  party_[1].rma()->unregister_segment(2);
  ASSERT_EQ(rma().put(1, key_, 0, bytes_of_value(kWord), false, ++token_).kind, Post::Kind::posted);
  ASSERT_TRUE(party_.poll_until([&] { return party_.inbox(0).ends.size() == token_; }));
  EXPECT_EQ(party_.inbox(0).ends.back().second.code(), ErrorCode::out_of_range);
}

TEST_F(UcxPut, WithASignalIsOneOperationOfAnyLength) {
  const std::vector<std::byte> bytes(memory_.size(), std::byte{3});
  const Counts before = party_.ucx(0).counts();
  std::uint64_t sent = 0;
  for (const std::size_t size : {std::size_t{0}, std::size_t{8}, std::size_t{70'000}, bytes.size()}) {
    const Signal signal{static_cast<SignalSlot>(sent), 5};
    const Post post =
        party_[0].signal()->put_signal(1, key_, 0, core::Bytes(bytes).first(size), signal, ++token_);
    ASSERT_EQ(post.kind, Post::Kind::posted);
    ++sent;
    ASSERT_TRUE(party_.poll_until(
        [&] { return party_.inbox(1).signals.size() == sent && party_.inbox(0).ends.size() == token_; }));
    EXPECT_TRUE(
        std::equal(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size), memory_.begin()));
    EXPECT_EQ(party_.inbox(1).signals.back().second.add, 5u);
  }
  EXPECT_EQ(party_.ucx(0).counts().put_messages - before.put_messages, sent);
}

TEST_F(UcxPut, WithASignalOfNoCounterToItselfWritesNothing) {
  auto key = party_[1].rma()->register_segment(3, memory_);
  ASSERT_TRUE(key);
  const auto own = party_[1].rma()->import_key(1, *key);
  ASSERT_TRUE(own);
  const auto slots = static_cast<SignalSlot>(core::hidden_slots(Config()));
  std::fill(memory_.begin(), memory_.end(), std::byte{7});
  const Post post = party_[1].signal()->put_signal(1, *own, 0, bytes_of_value(kWord), {slots, 1}, ++token_);
  EXPECT_EQ(post.kind, Post::Kind::failed);
  EXPECT_EQ(post.why, ErrorCode::out_of_range);
  EXPECT_EQ(memory_.front(), std::byte{7});
}

TEST_F(UcxPut, BeyondTheRoomThereIsIsToldToRetry) {
  // One peer gets half of the room; the other half is for other peers.
  const auto operations = static_cast<int>(Config().number("ucx_operations")) / 2;
  int posted = 0;
  while (posted <= operations &&
         rma().put(1, key_, 0, bytes_of_value(kWord), false, ++token_).kind == Post::Kind::posted) {
    ++posted;
  }
  EXPECT_EQ(posted, operations);
  ASSERT_TRUE(
      party_.poll_until([&] { return party_.inbox(0).ends.size() == static_cast<std::size_t>(operations); }));
  EXPECT_EQ(rma().put(1, key_, 0, bytes_of_value(kWord), false, ++token_).kind, Post::Kind::posted);
}

}  // namespace
}  // namespace aqueduct::conduits::ucx
