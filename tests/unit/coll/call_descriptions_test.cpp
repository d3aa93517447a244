// The texts and fingerprints of collective calls.

#include "tests/unit/coll/agreement_calls.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <random>
#include <set>

namespace aqueduct::coll::agreement {
namespace {

TEST(CallDescriptions, HaveTexts) {
  EXPECT_EQ(text_of({}), "barrier");
  EXPECT_EQ(text_of(sum_of(8)), "all_reduce of 8 bytes (f64, sum)");
  EXPECT_EQ(text_of(sum_of(1)), "all_reduce of 1 byte (f64, sum)");
  EXPECT_EQ(text_of(broadcast_of(64, 3)), "broadcast of 64 bytes (root 3)");
  EXPECT_EQ(text_of(refused(broadcast_of(64, 9))),
            "broadcast of 64 bytes (root 9), refused with invalid_argument");
  CallDescription call = sum_of(24);
  call.type = ElementType::bytes;
  call.element = 24;
  call.op = ReduceOp::user;
  call.number = 7;
  call.order = ReduceOrder::exact;
  call.in = Sync::none;
  call.out = Sync::mine;
  EXPECT_EQ(
      text_of(call),
      "all_reduce of 24 bytes (elements of 24 bytes, operator 7 of the user, exact, in none, out mine)");
  call = sum_of(8);
  call.facts = CallDescription::kKnownPlaces;
  EXPECT_EQ(text_of(call), "all_reduce of 8 bytes (f64, sum, places on all members)");
  call.op = ReduceOp::user;
  call.number = 7;
  call.facts = CallDescription::kOrdered;
  EXPECT_EQ(text_of(call), "all_reduce of 8 bytes (f64, operator 7 of the user, not commutative)");
}

TEST(CallDescriptions, OfAnyBytesHaveATextAndAFingerprint) {
  std::mt19937 random(5);
  for (int i = 0; i < 10'000; ++i) {
    CallDescription call;
    unsigned char bytes[sizeof call];
    for (auto& one : bytes) one = static_cast<unsigned char>(random());
    std::memcpy(&call, bytes, sizeof call);
    EXPECT_LT(text_of(call).size(), 400u);
    EXPECT_NE(fingerprint(random(), call), 0u);
  }
}

TEST(CallDescriptions, ThatDifferHaveOtherFingerprints) {
  std::set<std::uint32_t> seen;
  std::size_t made = 0;
  const auto add = [&](std::uint64_t number, const CallDescription& call) {
    seen.insert(fingerprint(number, call));
    ++made;
  };
  for (std::uint64_t number = 1; number <= 100; ++number) {
    for (std::uint64_t bytes = 0; bytes < 10; ++bytes) {
      add(number, sum_of(bytes));
      add(number, broadcast_of(bytes, static_cast<Rank>(number % 3)));
    }
  }
  CallDescription call = sum_of(8);
  call.algorithm = 5;
  add(1, call);
  call.out = Sync::none;
  add(1, call);
  call.op = ReduceOp::max;
  add(1, call);
  EXPECT_GE(seen.size() + 1, made) << "more than one collision in some two thousand is not chance";
  EXPECT_EQ(fingerprint(3, call), fingerprint(3, call));
}

TEST(CallDescriptions, OfPlansAreOtherCalls) {
  EXPECT_EQ(text_of(bind_of(sum_of(8))), "bind of a plan of all_reduce of 8 bytes (f64, sum)");
  EXPECT_EQ(text_of(end_of(broadcast_of(64, 3))), "end of a plan of broadcast of 64 bytes (root 3)");
  EXPECT_NE(bind_of(sum_of(8)), sum_of(8));
  EXPECT_NE(bind_of(sum_of(8)), end_of(sum_of(8)));
  EXPECT_FALSE(is_silent(sum_of(8)));
  EXPECT_TRUE(is_silent(bind_of(sum_of(8))));
  EXPECT_TRUE(is_silent(end_of(sum_of(8))));
}

}  // namespace
}  // namespace aqueduct::coll::agreement
