#include "tools/aqcheck/scratch_command.hpp"
#include "tools/aqcheck/scratch_pairs.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>

namespace aqueduct::aqcheck {
namespace {

using WrongBy = ScratchMistake::Kind;

TEST(ScratchPairs, HaveNoOverlapAndNoHangWithAMemberThatIsLate) {
  std::uint64_t pairs = 0;
  for (const Rank ranks : {2u, 4u, 5u}) {
    for_each_pair({.ranks = ranks}, [&](const ScratchPair& pair) {
      ++pairs;
      EXPECT_EQ(check_pair(pair), "") << describe(pair);
      return !testing::Test::HasFailure();
    });
  }
  EXPECT_GT(pairs, 4000u);
}

TEST(ScratchCommand, FailsIfNothingWasLookedAt) {
  for (const ScratchOptions& options :
       {ScratchOptions{.least = 1, .most = 1}, ScratchOptions{.least = 1, .most = 1, .mutations = true},
        ScratchOptions{.least = 2, .most = 2, .share = UINT32_MAX, .seed = 1}}) {
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    EXPECT_EQ(run_scratch(options), 2);
    EXPECT_THAT(testing::internal::GetCapturedStdout(), testing::Not(testing::HasSubstr("right")));
    EXPECT_THAT(testing::internal::GetCapturedStderr(), testing::HasSubstr("aqcheck: "));
  }
}

class ScratchMistakes : public testing::TestWithParam<WrongBy> {};

// One member makes the mistake, whichever it is.
TEST_P(ScratchMistakes, AreFoundInAnyMember) {
  for (Rank member = 0; member < 5; ++member) {
    bool found = false;
    for_each_pair({.ranks = 5}, [&](const ScratchPair& pair) {
      found = !check_pair(pair, {GetParam(), member}).empty();
      return !found;
    });
    EXPECT_TRUE(found) << "member " << member << " " << name_of(GetParam());
  }
}

INSTANTIATE_TEST_SUITE_P(Of, ScratchMistakes,
                         testing::ValuesIn(scratch_mistakes().begin(), scratch_mistakes().end()),
                         [](const auto& of) {
                           std::string name = name_of(of.param);
                           for (char& c : name) c = c == ' ' || c == '\'' ? '_' : c;
                           return name;
                         });

}  // namespace
}  // namespace aqueduct::aqcheck
