#include <aqueduct/job.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace aqueduct {
namespace {

TEST(InProcess, OfMoreRanksThanAProcessMayHoldIsRefusedAtOnce) {
  for (const Rank ranks : {Rank{0}, Rank{1025}, kNoRank - 1, kNoRank}) {
    testing::internal::CaptureStderr();
    EXPECT_EQ(Job::in_process(ranks, Config()).status().code(), ErrorCode::invalid_argument) << ranks;
    EXPECT_THAT(
        testing::internal::GetCapturedStderr(),
        testing::HasSubstr(std::to_string(ranks) + " ranks: a process may hold 1 to 1024; start several"));
  }
}

}  // namespace
}  // namespace aqueduct
