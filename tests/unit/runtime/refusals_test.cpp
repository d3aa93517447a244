// What is said when a call refuses an argument.

#include <aqueduct/aqueduct.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>

namespace aqueduct {
namespace {

using testing::HasSubstr;

class Refusals : public testing::Test {
 protected:
  void SetUp() override {
    Config config;
    ASSERT_TRUE(config.set("segment_bytes", "4K"));
    ASSERT_TRUE(config.set("log", "error"));
    testing::internal::CaptureStderr();  // before the log is made
    auto made = Job::in_process(1, config);
    if (made) job_.emplace(std::move(*made));
    ASSERT_TRUE(made);
  }
  Endpoint& me() { return job_->endpoint(0); }

  std::optional<Job> job_;
};

TEST_F(Refusals, OfHandlerSpacesSayWhatToTry) {
  Status outcome;
  int made = 0;
  EXPECT_TRUE(HandlerSpace::create(me(), "a name"));
  EXPECT_EQ(HandlerSpace::create(me(), "a name").status().code(), ErrorCode::invalid_argument);
  for (; outcome && made < 1000; ++made)
    outcome = HandlerSpace::create(me(), "number " + std::to_string(made)).status();
  EXPECT_EQ(outcome.code(), ErrorCode::refused);
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_THAT(said, HasSubstr("a handler space \"a name\" already"));
  EXPECT_THAT(said, HasSubstr("one more than the " + std::to_string(made)));
}

TEST_F(Refusals, OfMemoryThatWasPublishedBeforeSayWhatToTry) {
  auto memory = Segment::allocate(me(), 4096);
  EXPECT_TRUE(memory);
  EXPECT_TRUE(Segment::publish(me().world(), std::move(memory)));
  const Status twice = Segment::publish(me().world(), std::move(memory)).status();
  EXPECT_EQ(twice.code(), ErrorCode::invalid_argument);
  EXPECT_EQ(twice.peer(), 0u);
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("was published before"));
}

}  // namespace
}  // namespace aqueduct
