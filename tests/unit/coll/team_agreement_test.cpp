// Whether members make the same calls: what one member concludes from others' news, and what it tells.

#include "tests/unit/coll/agreement_calls.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>

namespace aqueduct::coll::agreement {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(Agreement, OfEqualCallsIsUnbroken) {
  TeamAgreement agreement(0);
  call_up_to(agreement, 1000, sum_of(8));
  EXPECT_FALSE(agreement.broken());
  EXPECT_EQ(agreement.made(), 1000u);
  EXPECT_EQ(*agreement.call_of(agreement.made()), sum_of(8));
  EXPECT_FALSE(agreement.take_news());
  EXPECT_TRUE(agreement.status().ok());
  EXPECT_EQ(agreement.why(), "");
}

TEST(Agreement, RemembersQuietCallsAlsoWhenTheirDescriptionIsGone) {
  TeamAgreement agreement(0);
  CallDescription described = sum_of(8);
  ASSERT_TRUE(agreement.calls(1, sum_of(8)).ok());
  EXPECT_EQ(agreement.calls_quietly(described), 2u);
  ASSERT_TRUE(agreement.calls(3, broadcast_of(8)).ok());
  EXPECT_EQ(agreement.calls_quietly(described), 4u);
  EXPECT_EQ(*agreement.call_of(agreement.made()), sum_of(8));
  agreement.forget(described);
  described = sum_of(16);
  EXPECT_EQ(*agreement.call_of(agreement.made()), sum_of(8));
  EXPECT_EQ(agreement.heard(1, 2, sum_of(16)), Verdict::broken);
  EXPECT_EQ(agreement.broken_at(), 2u);
  const auto news = agreement.take_news();
  ASSERT_TRUE(news);
  EXPECT_EQ(news->number, 2u);
  EXPECT_EQ(news->call, sum_of(8));
  EXPECT_EQ(agreement.heard(1, 2, sum_of(16)), Verdict::known);
  EXPECT_FALSE(agreement.take_news()) << "all know of it";
}

TEST(Agreement, BreaksWhenAMemberTellsOfAnotherCall) {
  TeamAgreement agreement(0);
  call_up_to(agreement, 6, broadcast_of(8));
  ASSERT_TRUE(agreement.calls(7, broadcast_of(64)).ok());
  EXPECT_EQ(agreement.heard(2, 7, sum_of(8)), Verdict::broken);
  EXPECT_EQ(agreement.why(),
            "call 7 of the team: rank 2 has called all_reduce of 8 bytes (f64, sum); rank 0 has called "
            "broadcast of 64 bytes (root 0)");
  EXPECT_EQ(agreement.status(), Status(ErrorCode::mismatch, 2));
  EXPECT_EQ(agreement.broken_at(), 7u);
  const auto news = agreement.take_news();
  ASSERT_TRUE(news);
  EXPECT_EQ(news->number, 7u);
  EXPECT_EQ(news->call, broadcast_of(64));
  EXPECT_FALSE(agreement.take_news());
  // The same number again: nothing is told twice.
  EXPECT_EQ(agreement.heard(3, 7, sum_of(8)), Verdict::known);
  EXPECT_FALSE(agreement.take_news());
  EXPECT_EQ(agreement.calls(8, sum_of(8)), Status(ErrorCode::mismatch, 2));
  EXPECT_FALSE(agreement.take_news());
}

// The sender has seen that a third member disagrees.
TEST(Agreement, BreaksWhenAMemberTellsOfTheSameCallAndImprovesTheTextLater) {
  TeamAgreement agreement(0);
  ASSERT_TRUE(agreement.calls(1, sum_of(8)).ok());
  EXPECT_EQ(agreement.heard(2, 1, sum_of(8)), Verdict::broken);
  EXPECT_EQ(agreement.why(),
            "call 1 of the team: rank 2 has called all_reduce of 8 bytes (f64, sum); so has rank 0; a member "
            "has made another call");
  EXPECT_EQ(agreement.status(), Status(ErrorCode::mismatch));
  EXPECT_FALSE(agreement.take_news()) << "rank 2 has told all of this call";
  EXPECT_EQ(agreement.heard(1, 1, broadcast_of(8)), Verdict::clearer);
  EXPECT_THAT(agreement.why(), HasSubstr("rank 1 has called broadcast of 8 bytes"));
  EXPECT_EQ(agreement.status(), Status(ErrorCode::mismatch, 1));
  EXPECT_EQ(agreement.heard(3, 1, broadcast_of(9)), Verdict::known);
}

TEST(Agreement, BreaksByAWrongFingerprint) {
  TeamAgreement agreement(4);
  ASSERT_TRUE(agreement.calls(1, sum_of(8)).ok());
  EXPECT_EQ(agreement.saw_other(1, kNoRank), Status(ErrorCode::mismatch));
  EXPECT_EQ(agreement.why(),
            "call 1 of the team: rank 4 has called all_reduce of 8 bytes (f64, sum); a member has made "
            "another call");
  const auto news = agreement.take_news();
  ASSERT_TRUE(news);
  EXPECT_EQ(news->call, sum_of(8));
  EXPECT_EQ(agreement.saw_other(1, 3), Status(ErrorCode::mismatch));
  EXPECT_FALSE(agreement.take_news());
  EXPECT_EQ(agreement.heard(3, 1, broadcast_of(8)), Verdict::clearer);
  EXPECT_FALSE(agreement.take_news());
}

// On a board a member may be many calls ahead. Those that are not must learn of it, or they wait for ever.
TEST(Agreement, BrokenByAForgottenCallIsToldOnce) {
  TeamAgreement ahead(0), behind(1);
  call_up_to(ahead, 40, broadcast_of(8));
  ASSERT_TRUE(behind.calls(1, broadcast_of(64)).ok());
  EXPECT_EQ(ahead.saw_other(1, kNoRank), Status(ErrorCode::mismatch));
  EXPECT_EQ(ahead.broken_at(), 1u);
  EXPECT_THAT(ahead.why(), HasSubstr("rank 0 does not remember its own call"));
  const auto news = ahead.take_news();
  ASSERT_TRUE(news);
  EXPECT_EQ(news->number, 1u);
  EXPECT_EQ(ahead.saw_other(1, kNoRank), Status(ErrorCode::mismatch));
  EXPECT_FALSE(ahead.take_news());
  EXPECT_EQ(behind.heard(0, news->number, news->call), Verdict::broken);
  EXPECT_EQ(behind.status(), Status(ErrorCode::mismatch)) << "it may be any member's";
  EXPECT_EQ(
      behind.why(),
      "call 1 of the team: rank 0 has seen that the members' calls differ; rank 1 has called broadcast of 64 "
      "bytes (root 0)");
  const auto answer = behind.take_news();
  ASSERT_TRUE(answer);
  EXPECT_EQ(ahead.heard(1, answer->number, answer->call), Verdict::known);
  EXPECT_FALSE(ahead.take_news());
}

TEST(Agreement, SaysWhatDiffersIfOnlyTheAlgorithmsDo) {
  TeamAgreement agreement(0);
  CallDescription mine = sum_of(8), theirs = sum_of(8);
  mine.algorithm = 5;
  theirs.algorithm = 6;
  ASSERT_TRUE(agreement.calls(1, mine).ok());
  EXPECT_EQ(agreement.heard(1, 1, theirs), Verdict::broken);
  EXPECT_THAT(agreement.why(), HasSubstr("different algorithms or pieces: give all ranks the same"));
}

// The algorithms differ too, but they are not the reason.
TEST(Agreement, SaysWhatDiffersIfBuffersOrOperatorsAreOfAnotherKind) {
  for (const std::uint8_t fact :
       {CallDescription::kKnownPlaces, CallDescription::kOrdered, CallDescription::kSourcesKnown}) {
    TeamAgreement agreement(0);
    CallDescription mine = sum_of(8), theirs = sum_of(8);
    mine.op = theirs.op = ReduceOp::user;
    mine.algorithm = 5;
    theirs.algorithm = 6;
    theirs.facts = fact;
    ASSERT_TRUE(agreement.calls(1, mine).ok());
    EXPECT_EQ(agreement.heard(1, 1, theirs), Verdict::broken);
    EXPECT_THAT(agreement.why(), Not(HasSubstr("different algorithms")));
    EXPECT_THAT(agreement.why(), HasSubstr(fact == CallDescription::kKnownPlaces ? "places on all members"
                                           : fact == CallDescription::kOrdered   ? "not commutative"
                                                                                 : "sources known"));
  }
}

TEST(Agreement, KnowsWhetherACallDiffersFromItsOwn) {
  TeamAgreement agreement(0);
  const auto differs = [&](std::uint64_t number, const CallDescription& theirs) {
    const CallDescription* const mine = agreement.call_of(number);
    return mine != nullptr && TeamAgreement::differ(*mine, theirs);
  };
  ASSERT_TRUE(agreement.calls(1, sum_of(8)));
  ASSERT_TRUE(agreement.calls(2, broadcast_of(8)));
  EXPECT_FALSE(differs(1, sum_of(8)));
  EXPECT_TRUE(differs(1, broadcast_of(8)));
  EXPECT_TRUE(differs(2, broadcast_of(8, 1)));
  EXPECT_FALSE(differs(0, sum_of(8))) << "no call";
  EXPECT_FALSE(differs(3, sum_of(8))) << "not made yet";
  EXPECT_FALSE(differs(1, refused(broadcast_of(8)))) << "its member tells by itself";
  call_up_to(agreement, 1 + TeamAgreement::kKept, broadcast_of(8));
  EXPECT_FALSE(differs(1, broadcast_of(8))) << "forgotten";
  EXPECT_FALSE(agreement.broken());
}

TEST(Agreement, OfAnImpossibleNumberIsUnbroken) {
  TeamAgreement agreement(0);
  EXPECT_EQ(agreement.heard(1, 0, sum_of(8)), Verdict::agrees);
  EXPECT_EQ(agreement.heard(1, UINT64_MAX, sum_of(8)), Verdict::remembered);
  call_up_to(agreement, 100, sum_of(8));
  EXPECT_FALSE(agreement.broken());
}

TEST(Agreement, ThatIsBrokenTwiceSaysWhereItBegan) {
  TeamAgreement agreement(0);
  call_up_to(agreement, 9, sum_of(8));
  EXPECT_EQ(agreement.heard(1, 9, sum_of(16)), Verdict::broken);
  EXPECT_EQ(agreement.heard(2, 5, sum_of(32)), Verdict::broken);
  EXPECT_EQ(agreement.broken_at(), 5u);
  EXPECT_THAT(agreement.why(), HasSubstr("call 5 of the team: rank 2"));
  EXPECT_EQ(agreement.heard(1, 8, sum_of(16)), Verdict::known);
  EXPECT_THAT(agreement.why(), HasSubstr("call 5"));
}

}  // namespace
}  // namespace aqueduct::coll::agreement
