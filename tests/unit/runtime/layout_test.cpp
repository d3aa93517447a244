// A program that was compiled with headers of another layout is refused by name.

#include <aqueduct/aqueduct.h>
#include <aqueduct/version.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace aqueduct {
namespace {

using testing::HasSubstr;

TEST(Layout, OfOtherHeadersIsRefusedByName) {
  testing::internal::CaptureStderr();
  aq_job* job = nullptr;
  const aq_status newer = aq_job_start_of_layout(AQ_LAYOUT + 2, nullptr, &job);
  const aq_status older = aq_job_in_process_of_layout(AQ_LAYOUT - 1, 2, nullptr, &job);
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_EQ(newer.code, AQ_VERSION_MISMATCH);
  EXPECT_EQ(older.code, AQ_VERSION_MISMATCH);
  EXPECT_EQ(job, nullptr);
  for (const auto layout : {AQ_LAYOUT + 2, AQ_LAYOUT - 1})
    EXPECT_THAT(said, HasSubstr("compiled for layout " + std::to_string(layout) + " "));
  EXPECT_THAT(said, HasSubstr("has layout " + std::to_string(kLayout) + ": compile it again"));
}

TEST(Layout, OfTheseHeadersIsTheLibrarys) {
  aq_job* job = nullptr;
  ASSERT_EQ(aq_job_in_process(1, nullptr, &job).code, AQ_OK);
  EXPECT_EQ(aq_job_finish(job).code, AQ_OK);
}

}  // namespace
}  // namespace aqueduct
