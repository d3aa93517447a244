// Long requests that go on by themselves, step by step: both ranks on one thread, so the target makes progress only
// when the test says so.

#include <aqueduct/aqueduct.hpp>

#include "am/messages.hpp"
#include "tests/support/loop_job.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

namespace aqueduct::rma {
namespace {

constexpr std::size_t kBytes = 20'000;  // more than a packet

/// The parameter: what the network does itself.
class LongStep : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override { start({}); }
  void start(support::Settings settings) {
    job_.reset();
    settings.insert(settings.begin(),
                    {{"segment_bytes", "64K"}, {"loop_packet", "4096"}, {"loop_native", GetParam()}});
    ASSERT_NO_FATAL_FAILURE(support::start_over_loop(job_, 2, settings));
    heard_ = 0;
    for (Endpoint* ep : {&me(), &peer()}) {
      auto handler = on_long_request<std::uint64_t>(*ep, [this](auto&, auto&, std::span<std::byte> payload) {
        heard_ += std::ranges::all_of(payload, [](std::byte one) { return one == std::byte{7}; }) ? 1 : 1000;
      });
      ASSERT_TRUE(handler);
      handler_ = *handler;
    }
  }
  Endpoint& me() { return job_->endpoint(0); }
  Endpoint& peer() { return job_->endpoint(1); }
  am::Messages& messages() { return *me().state().messages; }

  Status send(Event& free, bool immediate = false) {
    return request(me(), handler_, std::uint64_t{1}, source_, GlobalPtr<std::byte>{1, 100},
                   {.immediate = immediate, .source_event = &free});
  }
  template <class Condition>
  bool both_until(const Condition& condition) {
    for (int round = 0; round < 100'000 && !condition(); ++round) {
      me().progress();
      peer().progress();
    }
    return condition();
  }

  std::vector<std::byte> source_ = std::vector<std::byte>(kBytes, std::byte{7});
  LongRequest<std::uint64_t> handler_;
  std::optional<Job> job_;
  int heard_ = 0;
};

TEST_P(LongStep, ReturnsWithoutTheTargetAndLeavesByProgress) {
  Event free;
  ASSERT_TRUE(send(free));
  for (int i = 0; i < 10; ++i) me().progress();
  EXPECT_EQ(heard_, 0);
  ASSERT_TRUE(both_until([&] { return heard_ != 0; }));
  EXPECT_EQ(heard_, 1);
  EXPECT_TRUE(free.done());
  EXPECT_TRUE(free.status());
  EXPECT_TRUE(messages().none_to_follow());
  EXPECT_TRUE(both_until([&] { return me().state().ops.in_flight() == 0; }));
}

TEST_P(LongStep, FinishWaitsUntilItHasLeft) {
  Event free;
  ASSERT_TRUE(send(free));
  // Without the target the payload's packets leave. In packets, it also has to answer them.
  for (int i = 0; i < 10 && !free.done(); ++i) me().progress();
  ASSERT_TRUE(free.done());
  EXPECT_TRUE(free.status());
  EXPECT_EQ(heard_, 0);
  ASSERT_TRUE(job_->finish());
  EXPECT_EQ(heard_, 1);
}

TEST_P(LongStep, EndsWithItsPeer) {
  Event free;
  ASSERT_TRUE(send(free));
  me().state().peer_lost(1);
  for (int i = 0; i < 10; ++i) me().progress();
  ASSERT_TRUE(free.done());
  static_cast<void>(free.status());
  EXPECT_TRUE(messages().none_to_follow());
  EXPECT_EQ(me().state().ops.in_flight(), 0u);
  EXPECT_EQ(me().state().busy, 0u);
  EXPECT_EQ(send(free).code(), ErrorCode::peer_lost);
}

// The payload is in place, and the message has no credit, when the peer is lost.
TEST_P(LongStep, InTheQueueEndsWithItsPeer) {
  start({{"credits", "2"}});
  const auto short_one = on_short_request<NoArguments>(me(), [](auto&, const NoArguments&) {});
  ASSERT_TRUE(short_one);
  ASSERT_TRUE(on_short_request<NoArguments>(peer(), [](auto&, const NoArguments&) {}));
  std::vector<Event> free(5);
  for (Event& one : free) ASSERT_TRUE(send(one));
  // Until no credit is left and a message waits.
  while (request(me(), 1, *short_one, {}, {.immediate = true})) {
  }
  for (int i = 0; i < 10; ++i) me().progress();
  EXPECT_FALSE(messages().none_to_follow());
  me().state().peer_lost(1);
  for (int i = 0; i < 10; ++i) me().progress();
  for (Event& one : free) {
    ASSERT_TRUE(one.done());
    static_cast<void>(one.status());
  }
  EXPECT_TRUE(messages().none_to_follow());
  EXPECT_EQ(me().state().ops.in_flight(), 0u);
  EXPECT_EQ(me().state().busy, 0u);
}

TEST_P(LongStep, ImmediateIsRefusedWithoutARecordForItsSourceEvent) {
  start({{"operations", "16"}});
  std::vector<Event> free(40);
  std::size_t sent = 0;
  Status status;
  while (sent < free.size() && (status = send(free[sent], true))) ++sent;
  EXPECT_LE(sent, 16u);
  if (sent < free.size()) {
    EXPECT_EQ(status.code(), ErrorCode::refused);
  }
  EXPECT_EQ(
      request(me(), handler_, std::uint64_t{1}, source_, GlobalPtr<std::byte>{1, 100}, {.immediate = true})
          .code(),
      ErrorCode::invalid_argument);
  ASSERT_TRUE(both_until([&] { return heard_ == static_cast<int>(sent); }));
  for (Event& one : free) {
    ASSERT_TRUE(one.done());
    static_cast<void>(one.status());
  }
  EXPECT_TRUE(both_until([&] { return me().state().ops.in_flight() == 0; }));
}

INSTANTIATE_TEST_SUITE_P(Over, LongStep, testing::Values("none", "rma"));

}  // namespace
}  // namespace aqueduct::rma
