// A null handle of the C face is refused in the log: it names the call and the argument, whatever the call returns.
// tests/c/nulls has all the calls.

#include <aqueduct/aqueduct.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace aqueduct {
namespace {

using testing::HasSubstr;

TEST(NullHandle, IsNamedWithItsCall) {
  testing::internal::CaptureStderr();
  aq_team* made = nullptr;
  EXPECT_EQ(aq_team_split(nullptr, 0, 0, &made).code, AQ_INVALID_ARGUMENT);
  EXPECT_EQ(aq_team_size(nullptr), 0u);
  aq_event event = aq_team_barrier_nb(nullptr);
  EXPECT_TRUE(aq_done(&event));
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_THAT(said, HasSubstr("aq_team_split: `team` is null"));
  EXPECT_THAT(said, HasSubstr("aq_team_size: `team` is null"));
  EXPECT_THAT(said, HasSubstr("aq_team_barrier_nb: `team` is null"));
}

}  // namespace
}  // namespace aqueduct
