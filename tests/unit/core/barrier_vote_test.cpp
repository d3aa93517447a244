#include "core/barrier_vote.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

namespace aqueduct::core {
namespace {

const BarrierVote kNone{};
const BarrierVote kZero(0);
const BarrierVote kSeven(7);
const BarrierVote kMismatch = [] {
  BarrierVote both = kZero;
  both.merge(kSeven);
  return both;
}();

TEST(BarrierVotes, MergeTheSameInAnyOrderAndRepeatedly) {
  std::array<BarrierVote, 4> votes{kNone, kZero, kSeven, kMismatch};
  for (const BarrierVote a : votes) {
    for (const BarrierVote b : votes) {
      BarrierVote ab = a;
      ab.merge(b);
      BarrierVote ba = b;
      ba.merge(a);
      EXPECT_EQ(ab.bits(), ba.bits()) << a.bits() << " and " << b.bits();
      const auto once = ab;
      ab.merge(b);
      EXPECT_EQ(ab.bits(), once.bits()) << a.bits() << " and twice " << b.bits();
    }
  }
}

TEST(BarrierVotes, DifferOnlyIfTwoValuesDo) {
  EXPECT_TRUE(kMismatch.is_mismatch());
  BarrierVote vote = kNone;
  vote.merge(kNone);
  EXPECT_TRUE(vote.is_anonymous());
  vote.merge(kZero);
  EXPECT_EQ(vote, kZero) << "0 is a value, and not silence";
  vote.merge(kNone);
  EXPECT_EQ(vote, kZero);
  vote.merge(kSeven);
  EXPECT_TRUE(vote.is_mismatch());
  vote.merge(kNone);
  EXPECT_TRUE(vote.is_mismatch());
}

TEST(BarrierVotes, SurviveTheirBits) {
  for (const BarrierVote vote : {kNone, kZero, kSeven, BarrierVote(0xffffffff), kMismatch})
    EXPECT_EQ(BarrierVote::from_bits(vote.bits()), vote) << vote.bits();
  EXPECT_EQ(kNone.bits(), 0u) << "fresh memory holds no vote";
  for (const std::uint64_t forged : {std::uint64_t{5}, std::uint64_t{9} << 32, ~std::uint64_t{0}})
    EXPECT_TRUE(BarrierVote::from_bits(forged).is_mismatch()) << forged;
}

}  // namespace
}  // namespace aqueduct::core
