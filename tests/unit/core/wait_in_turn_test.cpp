// Waits of several threads on one endpoint: one polls for all.

#include "core/wait.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <sys/eventfd.h>
#include <unistd.h>

namespace aqueduct::core {
namespace {

using namespace std::chrono_literals;

/// A conduit whose arrivals the test causes. It notices if two threads are inside.
class OneAtATime final : public Conduit, public Waitable {
 public:
  OneAtATime() : event_(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) { properties_.name = "one-at-a-time"; }
  ~OneAtATime() override { ::close(event_); }

  /// Callable from any thread.
  void arrive() {
    arrived.fetch_add(1);
    const std::uint64_t one = 1;
    EXPECT_EQ(::write(event_, &one, sizeof one), static_cast<ssize_t>(sizeof one));
  }

  const Properties& properties() const noexcept override { return properties_; }
  std::vector<std::byte> address() override { return {}; }
  Status connect(std::span<const std::vector<std::byte>>) override { return {}; }
  Post send(Rank, Bytes, Bytes, Token) noexcept override { return Post::failed(ErrorCode::not_supported); }
  int poll(Inbox&) noexcept override {
    const bool alone = inside_.fetch_add(1) == 0;
    if (!alone) together = true;
    pollers.insert(pollers.end(), std::this_thread::get_id());  // plain memory: TSan sees two threads, too
    if (pollers.size() > 1000) pollers.clear();
    std::uint64_t rings = 0;
    static_cast<void>(::read(event_, &rings, sizeof rings));
    const int found = arrived.load() - taken;
    taken += found;
    inside_.fetch_sub(1);
    return found;
  }
  Waitable* waitable() noexcept override { return this; }
  void arm() noexcept override { is_armed = true; }
  void disarm() noexcept override { is_armed = false; }
  void sleep(std::chrono::nanoseconds) noexcept override { slept_alone = true; }
  int descriptor() const noexcept override { return event_; }

  std::vector<std::thread::id> pollers;
  int taken = 0;  ///< under the endpoint's lock
  std::atomic<int> arrived{0};
  std::atomic<bool> together{false}, is_armed{false}, slept_alone{false};

 private:
  std::atomic<int> inside_{0};
  int event_;
  Properties properties_;
};

struct NobodysInbox final : Inbox {
  void packet(Rank, Bytes) noexcept override {}
  void completed(Token, Status) noexcept override {}
  void signalled(Rank, Signal) noexcept override {}
  void lost(Rank) noexcept override {}
};

class WaitsOfThreads : public testing::Test {
 protected:
  WaitsOfThreads() {
    auto one = std::make_unique<OneAtATime>();
    near_ = one.get();
    state_.near = std::move(one);
    state_.inbox = &inbox_;
    state_.checked_peers = Clock::now() + 1h;  // peers are not checked
  }
  void TearDown() override {
    EXPECT_FALSE(near_->together) << "two threads polled at once";
    EXPECT_FALSE(near_->slept_alone) << "a sleep that other threads cannot end";
  }
  static Config config() {
    Config config = Config::from_variables({});
    EXPECT_TRUE(config.set(Threads::multiple));
    return config;
  }
  template <class Done>
  Status wait(const Done& done, std::chrono::nanoseconds limit = 20s) {
    return wait_until(
        state_, done, kNoRank, [] { return std::string("a test of threads"); }, limit);
  }
  /// Waits that do not spin or yield: they sleep at once.
  void sleep_at_once() {
    state_.pacing.yield_at_most = 0ns;
    state_.pacing.spins = state_.pacing.fewest = 1;
  }

  Config config_ = config();
  NobodysInbox inbox_;
  detail::EndpointState state_{0, 2, config_};
  OneAtATime* near_ = nullptr;
};

TEST_F(WaitsOfThreads, AllEndByWhatOneOfThemPolls) {
  for (const bool asleep : {false, true}) {
    if (asleep) sleep_at_once();
    constexpr int kThreads = 4;
    constexpr int kRounds = 50;
    const int first = near_->arrived;
    std::atomic<int> ended{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([&] {
        for (int round = 1; round <= kRounds; ++round) {
          EXPECT_TRUE(wait([&] { return near_->taken >= first + round; }));
          ++ended;
        }
      });
    }
    for (int round = 1; round <= kRounds; ++round) {
      near_->arrive();
      const auto until = Clock::now() + 20s;
      while (ended < round * kThreads && Clock::now() < until) std::this_thread::yield();
      ASSERT_EQ(ended, round * kThreads) << "round " << round;
    }
    for (std::thread& thread : threads) thread.join();
  }
}

// The first to be done leaves, although the other is not: the other must poll from then on.
TEST_F(WaitsOfThreads, ThePollersTurnPassesOn) {
  for (int round = 0; round < 20; ++round) {
    const int first = near_->arrived;
    std::atomic<int> ended{0};
    std::array<std::thread, 3> threads;
    for (int t = 0; t < 3; ++t) {
      threads[static_cast<std::size_t>(t)] = std::thread([&, t] {
        EXPECT_TRUE(wait([&] { return near_->taken > first + t; }));
        ++ended;
      });
    }
    for (int t = 1; t <= 3; ++t) {
      near_->arrive();
      const auto until = Clock::now() + 20s;
      while (ended < t && Clock::now() < until) std::this_thread::yield();
      EXPECT_EQ(ended, t);
    }
    for (std::thread& thread : threads) thread.join();
  }
}

TEST_F(WaitsOfThreads, EachHasItsOwnTimeLimit) {
  std::thread longer([&] { EXPECT_TRUE(wait([&] { return near_->taken == 1; })); });
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(wait([] { return false; }, 5ms).code(), ErrorCode::timed_out);
    EXPECT_EQ(wait([] { return false; }, 0ms).code(), ErrorCode::timed_out);
  }
  near_->arrive();
  longer.join();
}

TEST_F(WaitsOfThreads, LetOtherThreadsCallMeanwhile) {
  sleep_at_once();
  bool stop = false;  // under the lock
  std::thread waits([&] { EXPECT_TRUE(wait([&] { return stop; })); });
  for (int i = 0; i < 1000; ++i) {
    const Entry entry(state_);
    EXPECT_FALSE(stop);
  }
  {
    const Entry entry(state_);
    stop = true;
  }
  waits.join();
}

// Without the wake-up the sleep lasts up to 20 ms. A loaded machine may be slow in some rounds, so the median counts.
TEST_F(WaitsOfThreads, ACallEndsTheSleepOfThePoller) {
  sleep_at_once();
  std::vector<Clock::duration> took;
  for (int round = 0; round < 15; ++round) {
    bool stop = false;  // under the lock
    const auto sleeps = [&] {
      const Entry entry(state_);  // also ends a sleep, so it is asked rarely
      return state_.statistics.sleeps;
    };
    const auto before = sleeps();
    Clock::time_point ended;
    std::thread waits([&] {
      EXPECT_TRUE(wait([&] { return stop; }));
      ended = Clock::now();
    });
    // Its sleeps double from 1 ms: after the fifth they last 20 ms.
    const auto until = Clock::now() + 20s;
    while (sleeps() < before + 6 && Clock::now() < until) std::this_thread::sleep_for(1ms);
    std::this_thread::sleep_for(3ms);
    Clock::time_point told;
    {
      const Entry entry(state_);
      stop = true;
      told = Clock::now();
    }
    waits.join();
    took.push_back(ended - told);
  }
  std::nth_element(took.begin(), took.begin() + 7, took.end());
  EXPECT_LT(took[7], 4ms);
  EXPECT_FALSE(near_->is_armed);
}

TEST_F(WaitsOfThreads, AnnouncedChangesWakeThoseThatFollow) {
  sleep_at_once();
  int number = 0;  // under the lock
  std::thread polls([&] { EXPECT_TRUE(wait([&] { return number == 100; })); });
  std::thread follows([&] {
    for (int next = 1; next <= 100; ++next) EXPECT_TRUE(wait([&] { return number >= next; }));
  });
  for (int next = 1; next <= 100; ++next) {
    const Entry entry(state_);
    number = next;
    state_.guard.changed();
  }
  polls.join();
  follows.join();
}

}  // namespace
}  // namespace aqueduct::core
