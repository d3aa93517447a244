#include <aqueduct/aqueduct.hpp>

#include "core/entry.hpp"
#include "tests/support/forked.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

namespace aqueduct::core {
namespace {

using namespace std::chrono_literals;

Config with_threads(Threads threads) {
  Config config = Config::from_variables({});
  EXPECT_TRUE(config.set(threads));
  return config;
}

class Entries : public testing::Test {
 protected:
  void TearDown() override {
    for (std::thread& thread : others_) thread.join();
  }
  /// Whether another thread gets in within `limit`. It gets in later otherwise, and the end of the test waits for it.
  bool another_gets_in(std::chrono::nanoseconds limit) {
    auto in = std::make_shared<std::atomic<bool>>(false);
    others_.emplace_back([this, in] {
      const Entry entry(shared_);
      *in = true;
    });
    const auto until = Clock::now() + limit;
    while (!*in && Clock::now() < until) std::this_thread::yield();
    return *in;
  }

  Config config_ = with_threads(Threads::multiple);
  detail::EndpointState shared_{0, 2, config_};

 private:
  std::vector<std::thread> others_;
};

TEST_F(Entries, AreNothingWhenThereIsOneThread) {
  const Config config = with_threads(Threads::single);
  detail::EndpointState state{0, 2, config};
  EXPECT_FALSE(state.guard.guards());
  EXPECT_EQ(state.face.threads(), Threads::single);
  const Entry entry(state);
  std::thread([&] { const Entry other(state); }).join();  // does not wait
}

TEST_F(Entries, KeepOtherThreadsOutUntilTheOutermostEnds) {
  EXPECT_EQ(shared_.face.threads(), Threads::multiple);
  {
    const Entry outer(shared_);
    EXPECT_TRUE(shared_.guard.is_mine());
    {
      const Entry inner(shared_);
      EXPECT_TRUE(shared_.guard.is_mine());
    }
    EXPECT_TRUE(shared_.guard.is_mine());
    EXPECT_FALSE(another_gets_in(20ms));
  }
  EXPECT_FALSE(shared_.guard.is_mine());
  EXPECT_TRUE(another_gets_in(20s));
}

TEST_F(Entries, LetInOneThreadAtATime) {
  constexpr int kThreads = 4;
  constexpr int kEach = 20'000;
  std::uint64_t plain = 0;  // a lost addition shows two threads inside; TSan sees them too
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < kEach; ++i) {
        const Entry entry(shared_);
        const Entry again(shared_);
        ++plain;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(plain, std::uint64_t{kThreads} * kEach);
}

TEST_F(Entries, OfOneThreadInALoopLeaveRoomForAnother) {
  std::atomic<bool> over{false};
  std::thread busy([&] {
    while (!over) {
      const Entry entry(shared_);
    }
  });
  for (int i = 0; i < 100; ++i) {  // would not end if the loop never gave way
    const Entry entry(shared_);
  }
  over = true;
  busy.join();
}

TEST_F(Entries, AreLetGoOfWhileOthersAreIn) {
  const Entry outer(shared_);
  const Entry inner(shared_);
  {
    const OthersIn others(shared_.guard, Guard::Why::looks_again);
    EXPECT_FALSE(shared_.guard.is_mine());
    EXPECT_TRUE(another_gets_in(20s));
  }
  EXPECT_TRUE(shared_.guard.is_mine());
  EXPECT_FALSE(another_gets_in(20ms));  // both entries count again
}

TEST_F(Entries, TellEachThreadWhetherItIsInAHandler) {
  const Entry entry(shared_);
  shared_.in_handler = true;
  EXPECT_TRUE(shared_.face.in_handler());
  bool elsewhere = true;
  std::thread([&] { elsewhere = shared_.face.in_handler(); }).join();  // does not wait for the lock
  EXPECT_FALSE(elsewhere);
  shared_.in_handler = false;
}

// Events are collected without an endpoint, so their pool knows the lock.
TEST_F(Entries, StandBeforeTheCollectionOfAnEvent) {
  constexpr OpKind kOfEntryTest{"a put"};
  std::atomic<bool> collected{false};
  std::thread other;
  {
    const Entry entry(shared_);
    Op* const op = shared_.ops.acquire(kOfEntryTest, 1, true);
    ASSERT_NE(op, nullptr);
    Event event(op);
    shared_.ops.part_ended(*op, {});
    EXPECT_TRUE(event.done());
    other = std::thread([&collected, event = std::move(event)]() mutable {
      EXPECT_TRUE(event.status());
      collected = true;
    });
    std::this_thread::sleep_for(20ms);
    EXPECT_FALSE(collected);
  }
  other.join();
  EXPECT_TRUE(collected);
  EXPECT_EQ(shared_.ops.in_flight(), 0u);
}

// A thread of the parent holds the lock at the fork, and does not exist in the child.
TEST_F(Entries, DoNotKeepAForkedChildOut) {
  std::atomic<bool> in{false};
  std::atomic<bool> over{false};
  std::thread holder([&] {
    const Entry entry(shared_);
    in = true;
    while (!over) std::this_thread::yield();
  });
  while (!in) std::this_thread::yield();
  EXPECT_EQ(support::in_a_child([&] {
              shared_.face.progress();
              return shared_.face.is_lost(1) ? 1 : 0;
            }),
            0);
  over = true;
  holder.join();
}

TEST(EntriesOfSerializedThreads, FindOverlappingCallsInCheckedBuilds) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const Config config = with_threads(Threads::serialized);
  detail::EndpointState state{0, 2, config};
  {
    const Entry mine(state);  // one after the other is what the mode is for
  }
  std::thread([&] { const Entry its_own(state); }).join();
#ifdef AQUEDUCT_CHECKED
  EXPECT_DEATH(
      {
        const Entry entry(state);
        std::thread([&] { const Entry other(state); }).join();
      },
      "two threads are in calls on one endpoint");
#else
  EXPECT_FALSE(state.guard.guards());  // costs nothing
#endif
}

}  // namespace
}  // namespace aqueduct::core
