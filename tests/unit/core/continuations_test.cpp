// Continuations of an endpoint that several threads use, and in a forked child.

#include <aqueduct/coroutine.hpp>

#include "core/event_access.hpp"
#include "core/wait.hpp"
#include "tests/support/forked.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>

namespace aqueduct::core {
namespace {

using namespace std::chrono_literals;
using aqueduct::detail::Suspended;

constexpr OpKind kAwaited{"a put"};

Config for_threads() {
  Config config = Config::from_variables({});
  EXPECT_TRUE(config.set(Threads::multiple));
  return config;
}

class ContinuationsOfThreads : public testing::Test {
 protected:
  /// As a blocking call in a continuation waits for room: `look` sees what other threads see meanwhile.
  template <class Look>
  void wait_as_in_a_continuation(const Look& look) {
    const auto looked = [&] {
      look();
      return true;
    };
    EXPECT_TRUE(wait_for_room(state_, looked, kNoRank, [] { return std::string("nothing"); }));
  }
  Event begin() {
    const Entry entry(state_);
    return Event(state_.ops.acquire(kAwaited, 1, true));
  }

  Config config_ = for_threads();
  detail::EndpointState state_{0, 2, config_};
  Op region_;
};

TEST_F(ContinuationsOfThreads, JoinNoRegionAndHideNoneFromOtherThreads) {
  const Entry entry(state_);
  state_.region = &region_;
  {
    const Continuations::Turn turn(state_);
    EXPECT_TRUE(state_.face.in_handler());
    EXPECT_EQ(&state_.group(), &state_.implicit.all);
    EXPECT_EQ(state_.face.begin_region().code(), ErrorCode::in_handler);
    EXPECT_EQ(state_.face.end_region().status().code(), ErrorCode::invalid_argument);
    wait_as_in_a_continuation([&] {
      EXPECT_FALSE(state_.face.in_handler());
      EXPECT_EQ(&state_.group(), &region_);
    });
    EXPECT_TRUE(state_.face.in_handler());
  }
  EXPECT_EQ(&state_.group(), &region_);
  EXPECT_FALSE(state_.face.in_handler());
  state_.region = nullptr;
}

TEST_F(ContinuationsOfThreads, KeepTheRegionThatAnotherThreadOpensMeanwhile) {
  const Entry entry(state_);
  {
    const Continuations::Turn turn(state_);
    wait_as_in_a_continuation([&] { EXPECT_TRUE(state_.face.begin_region()); });
    EXPECT_EQ(&state_.group(), &state_.implicit.all);
  }
  Event all = state_.face.end_region();
  EXPECT_TRUE(all.done());
  EXPECT_TRUE(all.status());
}

// `begin` of the tasks is a continuation too, and these run one after the other.
TEST_F(ContinuationsOfThreads, EndBeforeAnotherThreadBeginsItsTasks) {
  static std::atomic<bool> begun;
  begun = false;
  std::thread other;
  {
    const Entry entry(state_);
    const Continuations::Turn turn(state_);
    wait_as_in_a_continuation([&] {
      other = std::thread([this] {
        EXPECT_TRUE(aqueduct::detail::run_tasks(
            state_.face, [](void*) noexcept { begun = true; }, [](void*) noexcept { return std::size_t{0}; },
            nullptr));
      });
      const OthersIn others(state_.guard, Guard::Why::looks_again);
      std::this_thread::sleep_for(20ms);
    });
    EXPECT_FALSE(begun);
  }
  other.join();
  EXPECT_TRUE(begun);
  EXPECT_FALSE(state_.continuations.has_turn());
}

TEST_F(ContinuationsOfThreads, AreForgottenUnderTheLock) {
  Event event = begin();
  Suspension suspension;
  {
    const Entry entry(state_);
    state_.continuations.suspend(event, suspension);
  }
  std::atomic<bool> forgotten{false};
  std::thread other;
  {
    const Entry entry(state_);
    other = std::thread([&] {
      state_.continuations.forget(suspension);
      forgotten = true;
    });
    std::this_thread::sleep_for(20ms);
    EXPECT_FALSE(forgotten);
  }
  other.join();
  EXPECT_TRUE(forgotten);
}

TEST_F(ContinuationsOfThreads, MayOutliveTheirEndpoint) {
  Suspended suspended;
  {
    detail::EndpointState gone{0, 2, config_};
    Event event(gone.ops.acquire(kAwaited, 1, true));
    suspended.begin(
        event, [](void*, Status) noexcept { FAIL(); }, nullptr);
    EXPECT_TRUE(event.done()) << "the Event is given up";
  }
}

// A child may destroy what the parent has suspended, and suspend something itself, in any order.
TEST_F(ContinuationsOfThreads, AreLeftAloneInAForkedChild) {
  static int ran;
  ran = 0;
  const auto run = [](void*, Status) noexcept { ++ran; };
  Event event = begin();
  Op& op = *aqueduct::detail::EventAccess::operation(event);
  auto suspended = std::make_unique<Suspended>();
  suspended->begin(event, run, nullptr);
  EXPECT_EQ(support::in_a_child([&] {
              Event own = begin();
              suspended.reset();
              auto first = std::make_unique<Suspended>();
              first->begin(own, run, nullptr);
              Event another = begin();
              Suspended second;
              second.begin(another, run, nullptr);
              first.reset();
              state_.face.progress();
              return ran;
            }),
            0);
  {
    const Entry entry(state_);
    state_.ops.part_ended(op, {});
  }
  state_.face.progress();
  EXPECT_EQ(ran, 1);
}

}  // namespace
}  // namespace aqueduct::core
