#include <aqueduct/aqueduct.hpp>

#include "core/word_wait.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <limits>
#include <optional>
#include <string>
#include <utility>

namespace aqueduct::core {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

/// Whether `word how value` holds, for the bits of a word of type T.
template <class T>
bool comparison_holds(T word, Comparison how, T value) {
  return compares(aqueduct::detail::waited_word<T>(how, value),
                  static_cast<std::uint64_t>(static_cast<std::make_unsigned_t<T>>(word)));
}

template <class T>
void expect_compared_as_in_the_language() {
  constexpr T kLeast = std::numeric_limits<T>::min(), kMost = std::numeric_limits<T>::max();
  for (const T word : {kLeast, T(0), T(1), kMost}) {
    for (const T value : {kLeast, T(0), T(1), kMost}) {
      SCOPED_TRACE(std::to_string(word) + " and " + std::to_string(value));
      EXPECT_EQ(comparison_holds<T>(word, Comparison::equal, value), word == value);
      EXPECT_EQ(comparison_holds<T>(word, Comparison::not_equal, value), word != value);
      EXPECT_EQ(comparison_holds<T>(word, Comparison::less, value), word < value);
      EXPECT_EQ(comparison_holds<T>(word, Comparison::less_equal, value), word <= value);
      EXPECT_EQ(comparison_holds<T>(word, Comparison::greater, value), word > value);
      EXPECT_EQ(comparison_holds<T>(word, Comparison::greater_equal, value), word >= value);
    }
  }
}

TEST(WordWait, ComparesAsTheType) {
  expect_compared_as_in_the_language<std::int32_t>();
  expect_compared_as_in_the_language<std::uint32_t>();
  expect_compared_as_in_the_language<std::int64_t>();
  expect_compared_as_in_the_language<std::uint64_t>();
}

class WordWaitOfAJob : public testing::Test {
 protected:
  void SetUp() override {
    Config config;
    for (const auto& [name, value] :
         {std::pair{"conduit", "loop"}, {"near", "off"}, {"segment_bytes", "4K"}, {"stall_warn", "1ms"}})
      ASSERT_TRUE(config.set(name, value)) << name;
    auto made = Job::in_process(2, config);
    ASSERT_TRUE(made);
    job_.emplace(std::move(*made));
  }
  Endpoint& me() { return job_->endpoint(0); }

  std::optional<Job> job_;
};

TEST_F(WordWaitOfAJob, FindsTheWordByItsAddress) {
  auto word = aqueduct::detail::waited_word<std::uint32_t>(Comparison::equal, 1);
  word.at = me().segment().data() + 4092;
  ASSERT_TRUE(locate(me().state(), word));
  EXPECT_EQ(word.place.segment(), 0u);
  EXPECT_EQ(word.place.offset(), 4092u);
  const std::uint32_t elsewhere = 0;
  word.at = reinterpret_cast<const std::byte*>(&elsewhere);
  EXPECT_EQ(locate(me().state(), word).code(), ErrorCode::out_of_range);
}

TEST_F(WordWaitOfAJob, ThatComparesAsNothingDoesIsRefused) {
  const GlobalPtr<std::int32_t> word{0, 40};
  for (const int strange : {6, 9, 255}) {
    const auto how = static_cast<Comparison>(strange);
    EXPECT_EQ(wait_on(me(), word, how, 0, 5ms).code(), ErrorCode::invalid_argument) << strange;
    EXPECT_EQ(test_on(me(), word, how, 0).status().code(), ErrorCode::invalid_argument) << strange;
  }
}

TEST_F(WordWaitOfAJob, SaysInTheStallReportWhatIsWaitedFor) {
  ASSERT_TRUE(put_value(me(), GlobalPtr<std::int32_t>{0, 40}, -7));
  testing::internal::CaptureStderr();
  // On a busy machine a wait may reach its limit at its first check, before it reports.
  for (int i = 0; i < 1000 && me().statistics().stalls == 0; ++i) {
    EXPECT_EQ(wait_on(me(), GlobalPtr<std::int32_t>{0, 40}, Comparison::greater, -3, 5ms, 1).code(),
              ErrorCode::timed_out);
  }
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_THAT(said, HasSubstr("the 32-bit word at segment 0, offset 40 to be > -3 (it is -7)"));
  EXPECT_THAT(said, HasSubstr("rank 1"));
}

TEST_F(WordWaitOfAJob, EndsWithThePredicateAndNotBefore) {
  int calls = 0;
  EXPECT_TRUE(me().wait_until([&calls]() mutable { return ++calls == 5; }, 20s));
  EXPECT_EQ(calls, 5);
  const auto never = [] { return false; };
  EXPECT_EQ(me().wait_until(never, 1ms).code(), ErrorCode::timed_out);
  EXPECT_EQ(me().progress_for(1ms).code(), ErrorCode::timed_out);
}

TEST_F(WordWaitOfAJob, ProgressForReturnsAtAPacket) {
  const auto handler = on_short_request<int>(me(), [](auto&, const int&) {});
  const auto same = on_short_request<int>(job_->endpoint(1), [](auto&, const int&) {});
  ASSERT_TRUE(handler && same);
  ASSERT_TRUE(request(job_->endpoint(1), 0, *same, 1));
  EXPECT_TRUE(me().progress_for(20s));
}

}  // namespace
}  // namespace aqueduct::core
