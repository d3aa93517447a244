#include <aqueduct/aqueduct.hpp>

#include "core/endpoint_state.hpp"

#include <gtest/gtest.h>

#include <csignal>
#include <cstddef>
#include <memory>
#include <vector>

namespace aqueduct {
namespace {

/// Rank 1 makes no progress by itself, so that what rank 0 begins stays in flight.
Result<Job> two_ranks() {
  Config config;
  static_cast<void>(config.set("conduit", "loop"));
  static_cast<void>(config.set("near", "off"));
  return Job::in_process(2, config);
}

constexpr GlobalPtr<std::byte> kThere{1, 0};

TEST(GroupAndJob, AGroupThatOutlivesItsJobIsEmpty) {
  std::vector<std::byte> sent(64);
  std::unique_ptr<Group> idle;
  std::unique_ptr<Group> busy;
  {
    auto job = two_ranks();
    ASSERT_TRUE(job);
    idle = std::make_unique<Group>(job->endpoint(0));
    busy = std::make_unique<Group>(job->endpoint(0));
    ASSERT_TRUE(put_nbi(job->endpoint(0), kThere, sent, {.group = busy.get()}));
    EXPECT_EQ(busy->in_flight(), 1u);
    EXPECT_FALSE(busy->done());
  }
  for (Group* group : {idle.get(), busy.get()}) {
    EXPECT_TRUE(group->done() && group->source_done() && group->test() && group->test_source());
    EXPECT_EQ(group->wait().code(), ErrorCode::closed);
    EXPECT_EQ(group->wait_source().code(), ErrorCode::closed);
  }
}

TEST(GroupAndJob, AGroupOfAnotherEndpointIsRefused) {
  std::vector<std::byte> sent(64);
  std::uint64_t old = 0;
  auto job = two_ranks();
  ASSERT_TRUE(job);
  Endpoint& me = job->endpoint(0);
  Group others(job->endpoint(1));
  const GlobalPtr<std::uint64_t> word{1, 0};
  EXPECT_EQ(put_nbi(me, kThere, sent, {.group = &others}).code(), ErrorCode::invalid_argument);
  EXPECT_EQ(get_nbi(me, sent, kThere, {.group = &others}).code(), ErrorCode::invalid_argument);
  EXPECT_EQ(atomic_nbi<AtomicOp::add>(me, word, 1, &old, {.group = &others}).code(),
            ErrorCode::invalid_argument);
  EXPECT_TRUE(others.done());
  EXPECT_TRUE(me.wait_implicit());
}

TEST(GroupAndJob, WaitsEndAtTheirLimitAndTheOperationsGoOn) {
  std::vector<std::byte> sent(64, std::byte{7});
  auto job = two_ranks();
  ASSERT_TRUE(job);
  Group group(job->endpoint(0));
  ASSERT_TRUE(put_nbi(job->endpoint(0), kThere, sent, {.group = &group}));
  EXPECT_EQ(group.wait_for(std::chrono::milliseconds(1)).code(), ErrorCode::timed_out);
  EXPECT_EQ(group.in_flight(), 1u);
  for (int round = 0; round < 1000 && !group.test(); ++round) job->endpoint(1).progress();
  EXPECT_TRUE(group.wait());
  EXPECT_EQ(job->endpoint(1).segment().front(), std::byte{7});
}

#ifdef AQUEDUCT_CHECKED
void drop_a_group_in_flight() {
  std::vector<std::byte> sent(64);
  auto job = two_ranks();
  Group group(job->endpoint(0));
  static_cast<void>(put_nbi(job->endpoint(0), kThere, sent, {.group = &group}));
}

void drop_a_shared_event_in_flight() {
  std::vector<std::byte> sent(64);
  auto job = two_ranks();
  const SharedEvent one = share(put_nb(job->endpoint(0), kThere, sent));
  const SharedEvent two = one;
}

Task<> wait_for_a_put(Endpoint& me, std::vector<std::byte>& sent) {
  static_cast<void>(co_await put_nb(me, kThere, sent));
}

void drop_a_task_that_waits() {
  std::vector<std::byte> sent(64);
  auto job = two_ranks();
  Task<> task = wait_for_a_put(job->endpoint(0), sent);
  task.handle().resume();
}
#else
TEST(GroupAndJob, WhatIsDroppedInFlightFinishesUnobserved) {
  std::vector<std::byte> sent(64, std::byte{9});
  auto job = two_ranks();
  ASSERT_TRUE(job);
  Endpoint& me = job->endpoint(0);
  {
    Group group(me);
    ASSERT_TRUE(put_nbi(me, kThere, sent, {.source = SourceReuse::on_event, .group = &group}));
    static_cast<void>(share(put_nb(me, kThere, sent)));
  }
  for (int round = 0; round < 1000; ++round) {
    job->endpoint(1).progress();
    me.progress();
  }
  EXPECT_EQ(job->endpoint(1).segment().front(), std::byte{9});
  EXPECT_EQ(me.state().ops.in_flight(), 0u);
}
#endif

TEST(GroupAndJob, DroppingWhatIsInFlightIsMisuse) {
#ifndef AQUEDUCT_CHECKED
  GTEST_SKIP() << "only checked builds look for it";
#else
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(drop_a_group_in_flight(), testing::KilledBySignal(SIGABRT),
              "misuse at .*group.hpp:[0-9]+: a Group");
  EXPECT_EXIT(drop_a_shared_event_in_flight(), testing::KilledBySignal(SIGABRT),
              "misuse at .*shared_event.hpp:[0-9]+: the last SharedEvent");
  EXPECT_EXIT(drop_a_task_that_waits(), testing::KilledBySignal(SIGABRT),
              "misuse at .*continuation.hpp:[0-9]+: a coroutine was destroyed");
#endif
}

}  // namespace
}  // namespace aqueduct
