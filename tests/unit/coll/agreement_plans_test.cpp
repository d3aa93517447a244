// What a member concludes from news of plans that others bind or end.

#include "tests/unit/coll/agreement_calls.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace aqueduct::coll::agreement {
namespace {

using testing::HasSubstr;

// Rank 1 binds and starts where rank 0 starts: rank 1 sees a wrong counter in its call 2, and rank 0 waits in its call 1.
TEST(Agreement, BreaksAtABindThatAMemberHasNotMade) {
  TeamAgreement binder(1), starter(0);
  ASSERT_TRUE(binder.calls(1, bind_of(sum_of(8))).ok());
  ASSERT_TRUE(binder.calls(2, sum_of(8)).ok());
  ASSERT_TRUE(starter.calls(1, sum_of(8)).ok());
  EXPECT_EQ(binder.saw_other(2, kNoRank).code(), ErrorCode::mismatch);
  const auto seen = binder.take_news();
  ASSERT_TRUE(seen);
  EXPECT_EQ(starter.heard(1, seen->number, seen->call), Verdict::remembered);
  const auto silent = binder.silent_before(2);
  ASSERT_TRUE(silent);
  EXPECT_EQ(silent->number, 1u);
  EXPECT_FALSE(binder.silent_before(2)) << "it is told once";
  EXPECT_EQ(starter.heard(1, silent->number, silent->call), Verdict::broken);
  EXPECT_EQ(
      starter.why(),
      "call 1 of the team: rank 1 has called bind of a plan of all_reduce of 8 bytes (f64, sum); rank 0 "
      "has called all_reduce of 8 bytes (f64, sum)");
  EXPECT_EQ(starter.broken_at(), 1u);
  const auto answer = starter.take_news();
  ASSERT_TRUE(answer);
  EXPECT_EQ(binder.heard(0, answer->number, answer->call), Verdict::broken) << "at an earlier call";
  EXPECT_EQ(binder.broken_at(), 1u);
  EXPECT_THAT(binder.why(), HasSubstr("rank 1 has called bind of a plan of all_reduce"));
}

TEST(Agreement, IsNotBrokenByABindThatAllHaveMade) {
  TeamAgreement agreement(0);
  ASSERT_TRUE(agreement.calls(1, bind_of(sum_of(8))).ok());
  EXPECT_EQ(agreement.heard(1, 1, bind_of(sum_of(8))), Verdict::agrees);
  EXPECT_EQ(agreement.heard(1, 2, end_of(sum_of(8))), Verdict::remembered);
  ASSERT_TRUE(agreement.calls(2, end_of(sum_of(8))).ok());
  EXPECT_FALSE(agreement.broken());
  EXPECT_FALSE(agreement.take_news());
  ASSERT_TRUE(agreement.calls(3, sum_of(8)).ok());
  EXPECT_FALSE(agreement.silent_before(3) && agreement.silent_before(2) && agreement.silent_before(1))
      << "before call 1 is none";
}

}  // namespace
}  // namespace aqueduct::coll::agreement
