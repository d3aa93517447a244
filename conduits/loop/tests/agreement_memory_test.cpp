// What a team agrees on while a member has no memory for its calls.

#include "coll/engine/team_agreement.hpp"
#include "conduits/loop/tests/allocation_count.hpp"

#include <gtest/gtest.h>

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
  EXPECT_EQ(agreement.calls(1, call_of(8)), Status(ErrorCode::mismatch, 2));
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

}  // namespace
}  // namespace aqueduct::conduits::loop
