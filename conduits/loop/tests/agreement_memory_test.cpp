// What a team agrees on while a member has no memory for its calls.

#include <aqueduct/status.hpp>

#include "coll/engine/call_description.hpp"
#include "coll/engine/team_agreement.hpp"
#include "conduits/loop/tests/allocation_count.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

namespace aqueduct::conduits::loop {
namespace {

using coll::CallDescription;
using coll::TeamAgreement;
using coll::Verdict;

CallDescription call_of(std::uint64_t bytes) {
  CallDescription call{};
  call.bytes = bytes;
  return call;
}

// The sender makes no further call, so this member would wait for ever.
TEST(AgreementMemory, NewsThatCannotBeKeptBreaksTheTeamAtTheCall) {
  TeamAgreement agreement(0);
  {
    const NoMemory none;
    EXPECT_EQ(agreement.heard(2, 1, coll::refused_call(call_of(8), ErrorCode::no_memory)),
              Verdict::remembered);
  }
  EXPECT_FALSE(agreement.broken());
  EXPECT_FALSE(agreement.is_quiet());
  EXPECT_EQ(agreement.calls(1, call_of(8)), Status(ErrorCode::no_memory, 2));
  EXPECT_TRUE(agreement.has_news());
}

TEST(AgreementMemory, NewsThatCannotBeKeptIsForgottenByAMemberThatRefusesToo) {
  TeamAgreement agreement(0);
  const CallDescription refused = coll::refused_call(call_of(8), ErrorCode::no_memory);
  {
    const NoMemory none;
    EXPECT_EQ(agreement.heard(2, 1, refused), Verdict::remembered);
  }
  EXPECT_TRUE(agreement.calls(1, refused));
  EXPECT_TRUE(agreement.is_quiet());
}

// With memory it would tell the same. So others that refuse alike go on.
TEST(AgreementMemory, ARefusalIsToldAsItIs) {
  TeamAgreement agreement(0);
  const CallDescription refused = coll::refused_call(call_of(8), ErrorCode::no_memory);
  const NoMemory none;
  EXPECT_TRUE(agreement.calls(1, refused));
  const auto news = agreement.take_news();
  ASSERT_TRUE(news);
  EXPECT_EQ(news->number, 1u);
  EXPECT_TRUE(news->call == refused);
  EXPECT_EQ(agreement.heard(1, 1, refused), Verdict::agrees);
  EXPECT_FALSE(agreement.broken());
}

// A third member hears of it from one that has called, before it hears of the refusal itself.
TEST(AgreementMemory, WhoHadNoneIsToldByThoseThatHaveCalled) {
  const CallDescription refused = coll::refused_call(call_of(8), ErrorCode::no_memory);
  const Status outcome(ErrorCode::no_memory, 1);
  TeamAgreement caller(0);
  ASSERT_TRUE(caller.calls(1, call_of(8)));
  EXPECT_EQ(caller.heard(1, 1, refused), Verdict::broken);
  EXPECT_EQ(caller.status(), outcome);
  const auto news = caller.take_news();
  ASSERT_TRUE(news);

  TeamAgreement other(2);
  ASSERT_TRUE(other.calls(1, call_of(8)));
  EXPECT_EQ(other.heard(0, 1, news->call), Verdict::broken);
  EXPECT_EQ(other.status(), outcome);
  EXPECT_NE(other.why().find("rank 1 had no memory for its call"), std::string::npos) << other.why();
  EXPECT_EQ(other.heard(1, 1, refused), Verdict::known);
  EXPECT_EQ(other.status(), outcome);

  TeamAgreement late(3);
  EXPECT_EQ(late.heard(0, 1, news->call), Verdict::remembered);
  EXPECT_EQ(late.calls(1, call_of(8)), outcome);

  // The member itself, and another one that has refused alike, learn that a member has called.
  for (const Rank rank : {Rank{1}, Rank{4}}) {
    TeamAgreement one(rank);
    EXPECT_TRUE(one.calls(1, refused));
    EXPECT_EQ(one.heard(0, 1, news->call), Verdict::broken);
    EXPECT_EQ(one.status(), outcome);
  }
  // A call that differs in more is a mismatch, whatever else a member lacked.
  TeamAgreement differs(5);
  ASSERT_TRUE(differs.calls(1, call_of(16)));
  EXPECT_EQ(differs.heard(1, 1, refused), Verdict::broken);
  EXPECT_EQ(differs.status(), Status(ErrorCode::mismatch, 1));
}

// It may not know for long whether the others have called, and its next call would show them another mark.
TEST(AgreementMemory, AMemberWithoutItMakesNoFurtherCall) {
  TeamAgreement agreement(2);
  ASSERT_TRUE(agreement.calls(1, call_of(8)));
  const CallDescription refused = coll::refused_call(call_of(8), ErrorCode::no_memory);
  const Status outcome(ErrorCode::no_memory, 2);
  {
    const NoMemory none;
    EXPECT_TRUE(agreement.calls(2, refused));
    const auto news = agreement.take_news();
    ASSERT_TRUE(news);
    EXPECT_TRUE(news->call == refused);
    agreement.lacked_memory();
  }
  EXPECT_EQ(agreement.broken_at(), 2u);
  EXPECT_EQ(agreement.status(), outcome);
  // Who has called tells the same; so does one that has refused alike.
  EXPECT_NE(agreement.heard(0, 2, coll::relayed_no_memory(2)), Verdict::broken);
  EXPECT_EQ(agreement.status(), outcome);
  EXPECT_NE(agreement.heard(1, 2, refused), Verdict::broken);
  EXPECT_EQ(agreement.status(), outcome);
  EXPECT_EQ(agreement.calls(3, call_of(8)), outcome);
}

}  // namespace
}  // namespace aqueduct::conduits::loop
