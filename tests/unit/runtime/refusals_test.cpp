// What is said when a call refuses an argument.

#include <aqueduct/aqueduct.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace aqueduct {
namespace {

using testing::HasSubstr;

class Refusals : public testing::Test {
 protected:
  void SetUp() override {
    Config config;
    ASSERT_TRUE(config.set("segment_bytes", "4K"));
    ASSERT_TRUE(config.set("log", "warn"));
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

TEST_F(Refusals, OfPlacesNameThePlaceAndItsLimit) {
  std::byte bytes[16] = {};
  const auto at = [](Rank rank, std::uint64_t offset, SegmentId segment) {
    return GlobalPtr<std::byte>{rank, offset, segment};
  };
  EXPECT_FALSE(put(me(), at(0, 4090, 0), bytes));
  EXPECT_FALSE(get(me(), bytes, at(0, 0, 77)));
  EXPECT_FALSE(put(me(), at(5, 0, 0), bytes));
  EXPECT_FALSE(copy(me(), at(0, 0, 0), at(0, 4091, 0), 7));
  EXPECT_FALSE(signal(me(), 0, {1u << 30, 1}));
  EXPECT_FALSE(wait_until(me(), 1u << 29, 1));
  EXPECT_FALSE(fetch_add(me(), GlobalPtr<std::uint64_t>{0, 12}, 1));
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_THAT(said,
              HasSubstr("16 bytes at offset 4090 are not inside the rank's part, which has 4096 bytes"));
  EXPECT_THAT(said, HasSubstr("segment 77: there is no such segment"));
  EXPECT_THAT(said, HasSubstr("an operation with rank 5: the job has the ranks 0 to 0"));
  EXPECT_THAT(said, HasSubstr("7 bytes at offset 4091"));
  EXPECT_THAT(said, HasSubstr("signal slot 1073741824 of rank 0: that rank has "));
  EXPECT_THAT(said, HasSubstr("signal slot 536870912 of rank 0: that rank has "));
  EXPECT_THAT(said, HasSubstr("an atomic on rank 0, segment 0, offset 12: its address there"));
  EXPECT_THAT(said, HasSubstr("is not a multiple of 8 bytes"));
}

TEST_F(Refusals, AreNotNamedWithoutEnd) {
  std::byte bytes[16] = {};
  for (int i = 0; i < 200; ++i) EXPECT_FALSE(put(me(), GlobalPtr<std::byte>{0, 4090, 0}, bytes));
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_THAT(said, HasSubstr("more than 64 calls were refused"));
  EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), 65) << said;
}

TEST_F(Refusals, OfWaitsNameTheWord) {
  std::uint64_t local = 0;
  EXPECT_FALSE(wait_on(me(), local, Comparison::equal, 1u));
  EXPECT_FALSE(wait_on(me(), GlobalPtr<std::uint32_t>{7, 0}, Comparison::equal, 1u));
  EXPECT_FALSE(wait_on(me(), GlobalPtr<std::uint32_t>{0, 4094}, Comparison::equal, 1u));
  EXPECT_FALSE(wait_on(me(), GlobalPtr<std::uint32_t>{0, 2}, Comparison::equal, 1u));
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_THAT(said, HasSubstr("it is in no segment of this rank"));
  EXPECT_THAT(said, HasSubstr("a wait for a word of rank 7: a rank waits for words of its own part"));
  EXPECT_THAT(said, HasSubstr("4 bytes at offset 4094 are not inside"));
  EXPECT_THAT(said, HasSubstr("its address is not a multiple of 4 bytes"));
}

TEST_F(Refusals, OfTeamsNameTheRankOrTheTag) {
  const auto made_of = [&](std::vector<Rank> ranks) { return Team::create(me(), ranks, 5); };
  EXPECT_FALSE(made_of({}));
  EXPECT_FALSE(made_of({0, 3}));
  EXPECT_FALSE(made_of({0, 0}));
  auto team = made_of({0});
  ASSERT_TRUE(team);
  EXPECT_FALSE(made_of({0}));
  EXPECT_TRUE(team->end());
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_THAT(said, HasSubstr("the list of members is empty"));
  EXPECT_THAT(said, HasSubstr("the list names rank 3, and the job has the ranks 0 to 0"));
  EXPECT_THAT(said, HasSubstr("the list names rank 0 twice"));
  EXPECT_THAT(said, HasSubstr("with tag 5 already"));
}

TEST_F(Refusals, OfMessagesNameTheHandlerAndTheLimit) {
  const auto handler = on_medium_request<NoArguments>(
      me(), [](RequestContext&, const NoArguments&, std::span<std::byte>) { ADD_FAILURE(); });
  ASSERT_TRUE(handler);
  const std::size_t most = am_limits(me(), 0).medium;
  const std::vector<std::byte> payload(most + 1);
  EXPECT_FALSE(request(me(), 0, *handler, {}, payload));
  EXPECT_FALSE(request(me(), 9, *handler, {}, {}));
  EXPECT_FALSE(request(me(), 0, ShortRequest<NoArguments>{handler->id}));
  EXPECT_FALSE(request(me(), 0, ShortRequest<NoArguments>{60000}));
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_THAT(said, HasSubstr("a payload of " + std::to_string(most + 1) + " bytes; the limit is " +
                              std::to_string(most) + " (am_limits)"));
  EXPECT_THAT(said, HasSubstr("an operation with rank 9: the job has the ranks 0 to 0"));
  EXPECT_THAT(said, HasSubstr("handler " + std::to_string(handler->id) +
                              ": it was registered here for another category or argument struct"));
  EXPECT_THAT(said, HasSubstr("handler 60000: no handler is registered here under this number"));
}

TEST_F(Refusals, OfCallsInTheWrongOrderSayWhichOneIsMissing) {
  ASSERT_TRUE(me().world().notify());
  EXPECT_EQ(me().world().notify().code(), ErrorCode::invalid_argument);
  EXPECT_EQ(me().world().barrier().code(), ErrorCode::invalid_argument);
  EXPECT_TRUE(me().world().wait());
  EXPECT_EQ(me().world().wait().code(), ErrorCode::invalid_argument);
  EXPECT_EQ(me().wait(me().end_region()).code(), ErrorCode::invalid_argument);
  ASSERT_TRUE(me().begin_region());
  EXPECT_EQ(me().begin_region().code(), ErrorCode::invalid_argument);
  EXPECT_TRUE(me().wait(me().end_region()));
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_THAT(said, HasSubstr("the barrier of an earlier notify has not been waited for. Call Team::wait"));
  EXPECT_THAT(said, HasSubstr("Team::wait: no barrier of a notify is under way"));
  EXPECT_THAT(said, HasSubstr("end_region: no access region is open"));
  EXPECT_THAT(said, HasSubstr("an access region is open, and regions do not nest"));
  EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), 5) << said;
}

TEST_F(Refusals, OfPreparedPayloadsNameTheBounds) {
  std::byte own[8] = {};
  const std::size_t most = am_limits(me(), 0).medium;
  const auto code_of = [](const auto& prepared) { return prepared.status().code(); };
  EXPECT_EQ(code_of(prepare_medium(me(), 0, PayloadBounds{20, 10})), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of(prepare_medium(me(), 0, {.least = 16, .most = 32, .own = own})),
            ErrorCode::invalid_argument);
  EXPECT_EQ(code_of(prepare_medium(me(), 0, 64 * most)), ErrorCode::too_large);
  EXPECT_EQ(code_of(prepare_medium(me(), 3, 8)), ErrorCode::out_of_range);
  EXPECT_EQ(code_of(prepare_long(me(), GlobalPtr<std::byte>{0, 4000}, 97)), ErrorCode::out_of_range);
  auto payload = prepare_medium(me(), 0, 8);
  ASSERT_TRUE(payload);
  const std::vector<std::uint32_t> words(17);
  EXPECT_EQ(payload->commit_plain(1, words, 8).code(), ErrorCode::too_large);
  EXPECT_EQ(payload->commit_plain(1, {}, 9).code(), ErrorCode::too_large);
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_THAT(said, HasSubstr("for rank 0: its least size, 20 bytes, is above its largest, 10"));
  EXPECT_THAT(said, HasSubstr("for rank 0: its least size is 16 bytes, and the caller's buffer has 8"));
  EXPECT_THAT(said, HasSubstr("a payload of " + std::to_string(64 * most) + " bytes; the limit is "));
  EXPECT_THAT(said, HasSubstr("an operation with rank 3: the job has the ranks 0 to 0"));
  EXPECT_THAT(said, HasSubstr("97 bytes at offset 4000 are not inside"));
  EXPECT_THAT(said, HasSubstr("a prepared plain request with 17 words of arguments; the limit is 16"));
  EXPECT_THAT(said, HasSubstr("for rank 0 is sent with 9 bytes, and has room for 8 (size())"));
}

TEST_F(Refusals, OfPreparedPayloadsNameTheSettingOnce) {
  const auto most = job_->config().number("prepared");
  std::vector<PreparedPayload> held;
  for (std::int64_t i = 0; i < most; ++i) {
    auto one = prepare_medium(me(), 0, 8);
    ASSERT_TRUE(one) << i;
    held.push_back(std::move(*one));
  }
  for (int i = 0; i < 3; ++i) EXPECT_EQ(prepare_medium(me(), 0, 8).status().code(), ErrorCode::refused);
  held.clear();
  EXPECT_TRUE(prepare_medium(me(), 0, 8));
  const std::string said = testing::internal::GetCapturedStderr();
  const std::string limit = "all " + std::to_string(most) + " of them are in use (AQUEDUCT_PREPARED)";
  EXPECT_THAT(said, HasSubstr(limit + ". Commit or cancel one, send a plain message, or raise the setting"));
  EXPECT_EQ(said.find(limit), said.rfind(limit)) << said;
}

TEST_F(Refusals, OfMessagesWithTooManyWordsNameTheLimit) {
  const std::vector<std::uint32_t> words(17);
  auto space = HandlerSpace::create(me(), "words");
  ASSERT_TRUE(space);
  EXPECT_EQ(space->request_short(0, {.number = 1, .words = words}).code(), ErrorCode::too_large);
  const auto run = [](RequestContext&, std::span<const std::uint32_t>, std::span<std::byte>) {};
  EXPECT_EQ(register_plain(me(), AmCategory::short_request, 18, run).status().code(), ErrorCode::too_large);
  EXPECT_EQ(request_plain(me(), 0, AmCategory::short_request, 9, words).code(), ErrorCode::too_large);
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_THAT(said, HasSubstr("a raw request to rank 0 with 17 words of arguments; the limit is 16"));
  EXPECT_THAT(said, HasSubstr("a plain handler with 18 words of arguments; the limit is 16"));
  EXPECT_THAT(said, HasSubstr("a plain request to rank 0 with 17 words of arguments; the limit is 16"));
}

}  // namespace
}  // namespace aqueduct
