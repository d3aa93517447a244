// Handlers that run outside an endpoint's lock: on which threads, and what their threads may do.

#include "core/handler_queue.hpp"
#include "core/wait.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <string>
#include <thread>
#include <utility>

#include <sys/wait.h>
#include <unistd.h>

namespace aqueduct::core {
namespace {

using namespace std::chrono_literals;

/// A message whose handler is a function of the test.
struct TestedHandler : QueuedHandler {
  explicit TestedHandler(std::function<void()> handler) : body(std::move(handler)) {
    run = [](QueuedHandler& message) noexcept { static_cast<TestedHandler&>(message).body(); };
    over = [](QueuedHandler& message) noexcept { ++static_cast<TestedHandler&>(message).ended; };
  }
  std::function<void()> body;
  int ended = 0;  ///< under the lock
};

class HandlersOutside : public testing::Test {
 protected:
  HandlersOutside() {
    state_.checked_peers = Clock::now() + 1h;  // peers are not checked
    const Entry entry(state_);
    state_.guard.let_handlers_out(state_.polling, state_.in_handler);
  }
  static Config config() {
    Config config = Config::from_variables({});
    EXPECT_TRUE(config.set(Threads::multiple));
    return config;
  }
  template <class... Messages>
  void push(Messages&... messages) {
    const Entry entry(state_);
    (state_.handlers.push(messages), ...);
  }
  template <class Done>
  Status wait(const Done& done, std::chrono::nanoseconds limit = 20s) {
    return wait_until(
        state_, done, kNoRank, [] { return std::string("a test of handlers"); }, limit);
  }
  template <class Condition>
  static bool comes(const Condition& condition) {
    const auto until = Clock::now() + 20s;
    while (!condition() && Clock::now() < until) std::this_thread::yield();
    return condition();
  }

  Config config_ = config();
  detail::EndpointState state_{0, 2, config_};
};

TEST_F(HandlersOutside, OfTwoMessagesRunOnTwoThreadsAtOnce) {
  for (const bool asleep : {false, true}) {
    if (asleep) {
      state_.pacing.yield_at_most = 0ns;
      state_.pacing.spins = state_.pacing.fewest = 1;
    }
    std::atomic<int> begun{0};
    std::atomic<bool> met{true};
    const auto meet = [&] {
      ++begun;
      if (!comes([&] { return begun == 2; })) met = false;
    };
    TestedHandler first(meet), second(meet);
    const auto both = [&] { return first.ended + second.ended == 2; };
    std::thread other([&] { EXPECT_TRUE(wait(both)); });
    std::thread another([&] { EXPECT_TRUE(wait(both)); });
    std::this_thread::sleep_for(20ms);  // so that they sleep, in one of the two rounds
    push(first, second);
    other.join();
    another.join();
    EXPECT_TRUE(met);
    EXPECT_EQ(state_.handlers.queued(), 0u);
    EXPECT_EQ(state_.handlers.running(), 0u);
    EXPECT_EQ(state_.busy, 0u);
  }
}

TEST_F(HandlersOutside, GiveTheTurnToPollToAnotherThread) {
  std::atomic<bool> runs{false}, over{false};
  TestedHandler message([&] {
    runs = true;
    const std::uint32_t polls = state_.polls;
    EXPECT_TRUE(comes([&] { return state_.polls - polls > 10; })) << "nobody polls";
    over = true;
  });
  push(message);
  std::thread follows([&] {
    EXPECT_TRUE(comes([&] { return runs.load(); }));
    EXPECT_TRUE(wait([&] { return over.load(); }));
  });
  EXPECT_TRUE(wait([&] { return message.ended == 1; }));
  follows.join();
}

TEST_F(HandlersOutside, FollowTheRulesOnTheirThreadAlone) {
  bool elsewhere = true;
  TestedHandler message([&] {
    EXPECT_FALSE(state_.guard.is_mine());
    EXPECT_TRUE(state_.face.in_handler());
    {
      const Entry entry(state_);
      EXPECT_TRUE(state_.polling);
      EXPECT_TRUE(state_.in_handler);
      const Entry again(state_);
      EXPECT_TRUE(state_.must_not_wait());
      EXPECT_EQ(state_.face.progress(), 0);
    }
    EXPECT_EQ(wait([] { return false; }).code(), ErrorCode::in_handler);
    std::thread([&] {
      const Entry entry(state_);  // does not wait for the handler
      elsewhere = state_.face.in_handler() || state_.polling || state_.in_handler;
    }).join();
    EXPECT_TRUE(state_.face.in_handler());
  });
  push(message);
  EXPECT_EQ(state_.face.progress(), 1);
  EXPECT_EQ(message.ended, 1);
  EXPECT_FALSE(elsewhere);
  EXPECT_FALSE(state_.face.in_handler());
  const Entry entry(state_);
  EXPECT_FALSE(state_.polling);
  EXPECT_FALSE(state_.in_handler);
}

// A handler may use another endpoint, and run a handler of that one.
TEST_F(HandlersOutside, OfTwoEndpointsNest) {
  detail::EndpointState there{1, 2, config_};
  const auto both = [&] { return std::pair(state_.face.in_handler(), there.face.in_handler()); };
  TestedHandler inner([&] { EXPECT_EQ(both(), std::pair(true, true)); });
  TestedHandler outer([&] {
    EXPECT_EQ(both(), std::pair(true, false));
    {
      const Entry entry(there);
      there.guard.let_handlers_out(there.polling, there.in_handler);
      there.handlers.push(inner);
    }
    EXPECT_EQ(there.face.progress(), 1);
    EXPECT_EQ(both(), std::pair(true, false));
  });
  push(outer);
  EXPECT_EQ(state_.face.progress(), 1);
  EXPECT_EQ(inner.ended, 1);
  EXPECT_EQ(both(), std::pair(false, false));
}

// While a continuation runs, its thread keeps the lock.
TEST_F(HandlersOutside, WaitForTheEndOfAContinuation) {
  TestedHandler message([] {});
  push(message);
  const Entry entry(state_);
  state_.in_continuation = true;
  EXPECT_EQ(progress(state_), 0);
  EXPECT_EQ(message.ended, 0);
  state_.in_continuation = false;
  EXPECT_EQ(progress(state_), 1);
  EXPECT_EQ(message.ended, 1);
}

TEST_F(HandlersOutside, StayWhileTheirThreadPreparesToSleep) {
  TestedHandler message([] {});
  push(message);
  const Entry entry(state_);
  {
    const HandlerQueue::Stays armed(state_.handlers);
    EXPECT_EQ(progress(state_), 0);
  }
  EXPECT_EQ(message.ended, 0);
  EXPECT_NE(state_.busy, 0u) << "the thread would sleep";
  EXPECT_EQ(progress(state_), 1);
}

// A wait inside the predicate of one that has armed the conduits lets other threads in, who must not find the queue held.
TEST_F(HandlersOutside, RunInAWaitInsideThatPreparation) {
  bool ran = false;
  TestedHandler message([&] { ran = true; });
  const Entry entry(state_);
  {
    const HandlerQueue::Stays armed(state_.handlers);
    push(message);
    EXPECT_EQ(progress(state_), 0);
    EXPECT_TRUE(wait([&] { return ran; }));
    EXPECT_EQ(message.ended, 1);
    ran = false;
    push(message);
    EXPECT_EQ(progress(state_), 0) << "the preparation goes on";
  }
  EXPECT_EQ(progress(state_), 1);
  EXPECT_TRUE(ran);
}

// The child has one thread. The lock of its copy may belong to one of the parent's.
TEST_F(HandlersOutside, MayForkAndReturnInTheChild) {
  std::atomic<bool> holds{false}, may_go{false};
  pid_t child = -1;
  std::thread other;
  TestedHandler message([&] {
    other = std::thread([&] {
      const Entry entry(state_);
      holds = true;
      EXPECT_TRUE(comes([&] { return may_go.load(); }));
    });
    EXPECT_TRUE(comes([&] { return holds.load(); }));
    child = ::fork();
    if (child == 0) ::alarm(20);
    may_go = true;
  });
  push(message);
  state_.face.progress();
  if (child == 0) ::_exit(0);
  other.join();
  ASSERT_GT(child, 0);
  int status = -1;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace aqueduct::core
