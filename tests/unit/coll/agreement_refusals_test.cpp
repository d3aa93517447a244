// What a member concludes from news of calls that it or others have refused.

#include "tests/unit/coll/agreement_calls.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>

namespace aqueduct::coll::agreement {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(Agreement, RemembersNewsUntilTheCall) {
  TeamAgreement agreement(1);
  EXPECT_EQ(agreement.heard(2, 3, sum_of(8)), Verdict::remembered);
  EXPECT_EQ(agreement.heard(0, 2, refused(broadcast_of(8, 9))), Verdict::remembered);
  EXPECT_TRUE(agreement.calls(1, sum_of(8)).ok());
  EXPECT_FALSE(agreement.broken());
  EXPECT_EQ(agreement.calls(2, broadcast_of(8, 1)), Status(ErrorCode::mismatch, 0));
  EXPECT_EQ(agreement.why(),
            "call 2 of the team: rank 0 has refused broadcast of 8 bytes (root 9), with invalid_argument; "
            "rank 1 has called broadcast of 8 bytes (root 1)");
  const auto news = agreement.take_news();
  ASSERT_TRUE(news) << "the member that has refused must learn of it";
  EXPECT_EQ(news->call, broadcast_of(8, 1));
  EXPECT_EQ(agreement.broken_at(), 2u);
}

TEST(Agreement, IsUnbrokenIfAllRefuseAlike) {
  TeamAgreement agreement(0);
  const CallDescription bad = refused(broadcast_of(8, 9));
  EXPECT_EQ(agreement.heard(1, 1, bad), Verdict::remembered);
  EXPECT_TRUE(agreement.calls(1, bad).ok());
  ASSERT_TRUE(agreement.take_news()) << "the others may have called";
  EXPECT_EQ(agreement.heard(2, 1, bad), Verdict::agrees);
  EXPECT_FALSE(agreement.take_news());
  EXPECT_TRUE(agreement.calls(2, sum_of(8)).ok());
  EXPECT_FALSE(agreement.broken());
}

TEST(Agreement, BreaksIfAllRefuseButNotAlike) {
  TeamAgreement agreement(0);
  EXPECT_TRUE(agreement.calls(1, refused(broadcast_of(8, 9))).ok());
  EXPECT_EQ(agreement.heard(2, 1, refused(broadcast_of(8, 10))), Verdict::broken);
  EXPECT_THAT(agreement.why(), HasSubstr("rank 2 has refused broadcast of 8 bytes (root 10)"));
  EXPECT_THAT(agreement.why(), HasSubstr("rank 0 has refused broadcast of 8 bytes (root 9)"));
}

TEST(Agreement, OfAMemberThatHasRefusedBreaksWhenAnotherHasCalled) {
  TeamAgreement agreement(0);
  EXPECT_TRUE(agreement.calls(1, refused(broadcast_of(8, 9))).ok());
  ASSERT_TRUE(agreement.take_news());
  EXPECT_TRUE(agreement.calls(2, sum_of(8)).ok());
  EXPECT_EQ(agreement.heard(1, 1, broadcast_of(8, 0)), Verdict::broken);
  EXPECT_FALSE(agreement.take_news()) << "told already";
  EXPECT_EQ(agreement.calls(3, sum_of(8)), Status(ErrorCode::mismatch, 1));
}

TEST(Agreement, WithAnOldCallSaysOnlyTheirs) {
  TeamAgreement agreement(0);
  call_up_to(agreement, TeamAgreement::kKept + 1, sum_of(8));
  EXPECT_EQ(agreement.heard(1, 1, refused(broadcast_of(8, 9))), Verdict::broken);
  EXPECT_THAT(agreement.why(), HasSubstr("rank 1 has refused broadcast of 8 bytes (root 9)"));
  EXPECT_THAT(agreement.why(), Not(HasSubstr("all_reduce")));
  const auto news = agreement.take_news();
  ASSERT_TRUE(news);
  // The member that has refused learns that this one has not.
  TeamAgreement other(1);
  ASSERT_TRUE(other.calls(1, refused(broadcast_of(8, 9))).ok());
  EXPECT_EQ(other.heard(0, 1, news->call), Verdict::broken);
  EXPECT_THAT(other.why(), HasSubstr("rank 0 has seen that the members' calls differ"));
}

TEST(Agreement, OnOldRefusalsIsUnbroken) {
  TeamAgreement agreement(0);
  const CallDescription bad = refused(broadcast_of(8, 9));
  call_up_to(agreement, 1000, bad);
  for (std::uint64_t number = 1; number <= 1000; ++number)
    EXPECT_EQ(agreement.heard(1, number, bad), Verdict::agrees) << number;
  ASSERT_TRUE(agreement.calls(1001, sum_of(8)).ok());
  EXPECT_FALSE(agreement.broken());
}

TEST(Agreement, KeepsNewsOfTheNextCallsIfThereIsTooMuch) {
  TeamAgreement agreement(0);
  const CallDescription bad = refused(broadcast_of(8, 9));
  for (std::uint64_t number = 1000; number >= 1; --number)
    EXPECT_EQ(agreement.heard(1, number, bad), Verdict::remembered);
  call_up_to(agreement, TeamAgreement::kMostHeard - 1, bad);
  EXPECT_FALSE(agreement.calls(TeamAgreement::kMostHeard, sum_of(8)).ok());
}

}  // namespace
}  // namespace aqueduct::coll::agreement
