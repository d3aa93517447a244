#include "core/joint_sleep.hpp"
#include "core/wait.hpp"
#include "tests/support/manual_clock.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

namespace aqueduct::core {
namespace {

using namespace std::chrono_literals;
using Nanoseconds = std::chrono::nanoseconds;

/// A conduit whose arrivals the test causes.
class Fake final : public Conduit, public Waitable {
 public:
  enum class Sleeps : std::uint8_t { not_at_all, alone, with_others };

  explicit Fake(Sleeps sleeps) : sleeps_(sleeps), event_(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
    properties_.name = "fake";
  }
  ~Fake() override { ::close(event_); }

  /// Callable from any thread. As in smp, only a conduit that is armed is woken.
  void arrive() {
    arrived.fetch_add(1);
    if (armed.load() != 0) ring();
  }
  void ring() const {
    const std::uint64_t one = 1;
    EXPECT_EQ(::write(event_, &one, sizeof one), static_cast<ssize_t>(sizeof one));
  }

  const Properties& properties() const noexcept override { return properties_; }
  std::vector<std::byte> address() override { return {}; }
  Status connect(std::span<const std::vector<std::byte>>) override { return {}; }
  Post send(Rank, Bytes, Bytes, Token) noexcept override { return Post::failed(ErrorCode::not_supported); }
  int poll(Inbox&) noexcept override {
    ++polls;
    if (at_poll) at_poll();
    const int found = arrived.load() - taken.load();
    taken.fetch_add(found);
    return found;
  }
  Waitable* waitable() noexcept override { return sleeps_ == Sleeps::not_at_all ? nullptr : this; }

  void arm() noexcept override {
    std::uint64_t rings = 0;
    while (::read(event_, &rings, sizeof rings) > 0) {
    }
    armed.store(1);
    arms.fetch_add(1);
  }
  void disarm() noexcept override { armed.store(0); }
  void sleep(Nanoseconds limit) noexcept override {
    slept.push_back(limit);
    const timespec time{0, static_cast<long>(std::min<Nanoseconds>(limit, 900ms).count())};
    pollfd one{event_, POLLIN, 0};
    ::ppoll(&one, 1, &time, nullptr);
  }
  int descriptor() const noexcept override { return sleeps_ == Sleeps::with_others ? event_ : -1; }
  Nanoseconds within() const noexcept override { return alone_for; }

  Nanoseconds alone_for = Nanoseconds::max();
  int polls = 0;
  std::function<void()> at_poll;
  std::vector<Nanoseconds> slept;  ///< limits of the sleeps of its own kind
  std::atomic<int> arrived{0}, taken{0}, armed{0}, arms{0};

 private:
  Sleeps sleeps_;
  int event_;
  Properties properties_;
};

using Sleeps = Fake::Sleeps;

struct NoInbox final : Inbox {
  void packet(Rank, Bytes) noexcept override {}
  void completed(Token, Status) noexcept override {}
  void signalled(Rank, Signal) noexcept override {}
  void lost(Rank) noexcept override {}
};

/// An endpoint that waits on two fakes, or on one.
class Wait : public testing::Test {
 protected:
  void have(Sleeps near, Sleeps far) {
    auto one = std::make_unique<Fake>(near);
    near_ = one.get();
    state_.near = std::move(one);
    auto other = std::make_unique<Fake>(far);
    far_ = other.get();
    state_.far = std::move(other);
    set_up();
  }
  void have_near(Sleeps near) {
    auto one = std::make_unique<Fake>(near);
    near_ = one.get();
    state_.near = std::move(one);
    set_up();
  }
  Status wait(Nanoseconds limit) {
    const auto over = [this] { return near_->taken.load() + (far_ ? far_->taken.load() : 0) >= wanted_; };
    return wait_until(
        state_, over, kNoRank, [] { return std::string("a test"); }, limit);
  }

  /// Peers are not checked, and a wait sleeps at once.
  void set_up() {
    state_.inbox = &inbox_;
    state_.checked_peers = Clock::now() + 1h;
    state_.pacing.yield_at_most = 0ns;
    state_.pacing.spins = Pacing::kFewestSpins;
  }

  Config config_ = Config::from_variables({});
  NoInbox inbox_;
  detail::EndpointState state_{0, 2, config_};
  Fake* near_ = nullptr;
  Fake* far_ = nullptr;
  int wanted_ = 1;
};

/// The median duration of several waits. Each is woken in its
/// fifth sleep or later; without a wake-up this sleep lasts 10 ms.
Nanoseconds woken_after(Fake& by, const std::function<Status(Nanoseconds)>& wait, int& wanted) {
  std::vector<Nanoseconds> took;
  for (int round = 0; round < 15; ++round, ++wanted) {
    std::atomic<std::int64_t> rang{0};
    const int before = by.arms.load();
    std::thread waker([&] {
      const auto until = Clock::now() + 10s;
      while ((by.arms.load() < before + 6 || by.armed.load() == 0) && Clock::now() < until) {
        std::this_thread::yield();
      }
      rang = Clock::now().time_since_epoch().count();
      by.arrive();
    });
    EXPECT_TRUE(wait(20s));
    const auto now = Clock::now();
    waker.join();
    took.push_back(now - Clock::time_point(Clock::duration(rang.load())));
  }
  std::nth_element(took.begin(), took.begin() + 7, took.end());
  return took[7];
}

TEST_F(Wait, OnTwoIsEndedByTheNearOne) {
  have(Sleeps::with_others, Sleeps::with_others);
  EXPECT_LT(woken_after(
                *near_, [this](auto limit) { return wait(limit); }, wanted_),
            4ms);
  EXPECT_EQ(near_->slept.size() + far_->slept.size(), 0u);  // neither slept by itself
}

TEST_F(Wait, OnTwoIsEndedByTheFarOne) {
  have(Sleeps::with_others, Sleeps::with_others);
  EXPECT_LT(woken_after(
                *far_, [this](auto limit) { return wait(limit); }, wanted_),
            4ms);
  EXPECT_EQ(near_->armed.load() + far_->armed.load(), 0);
}

TEST_F(Wait, OnOneLeavesTheSleepToIt) {
  have_near(Sleeps::alone);
  EXPECT_EQ(wait(300ms).code(), ErrorCode::timed_out);
  ASSERT_GE(near_->slept.size(), 2u);
  EXPECT_GT(near_->slept[1], near_->slept[0]);  // sleeps become longer
  EXPECT_EQ(near_->armed.load(), 0);
}

TEST_F(Wait, ForMemorySleepsOnlyBriefly) {
  have_near(Sleeps::alone);
  const auto never = [] { return false; };
  const auto text = [] { return std::string("a test"); };
  EXPECT_EQ(wait_until(state_, never, kNoRank, text, 30ms, kMemoryNaps).code(), ErrorCode::timed_out);
  ASSERT_GE(near_->slept.size(), 2u);
  EXPECT_LE(near_->slept.front(), 100us);
  EXPECT_LE(*std::max_element(near_->slept.begin(), near_->slept.end()), 1ms);
}

TEST_F(Wait, ForMemoryThatLastsLongSleepsAsInABarrier) {
  support::ManualClock clock;
  state_.clock = clock.clock();
  const auto text = [](const void*) { return std::string("a test"); };
  LongWait longer(state_, kNoRank, Nanoseconds::max(), text, nullptr, kMemoryNaps);
  ASSERT_TRUE(longer.look_around());
  Nanoseconds lasted{0};
  Nanoseconds before{0};
  int naps_of_a_second = 0;
  while (lasted < 10s) {
    const Nanoseconds nap = longer.next_nap();
    EXPECT_GE(nap, std::min<Nanoseconds>(before, 20ms)) << "it becomes no shorter";
    EXPECT_LE(nap, std::max<Nanoseconds>(1ms, lasted / 64)) << "after " << lasted.count() << " ns";
    before = nap;
    lasted += nap;
    clock.move_on(nap);
    if (lasted > 9s) ++naps_of_a_second;
  }
  EXPECT_LE(before, 20ms);
  EXPECT_LE(naps_of_a_second, 51) << "a wait in a barrier wakes 50 times a second";
  state_.clock = {};  // this one ends before the state
}

// A round of progress runs up to 32 handlers of a ring, and each may take a millisecond.
TEST_F(Wait, KeepsItsLimitWhileSlowArrivalsGoOn) {
  support::ManualClock clock;
  const std::vector<std::pair<Nanoseconds, Nanoseconds>> cases{{32ms, 10ms}, {1ms, 100ms}, {1us, 50ms}};
  for (const auto& [round, limit] : cases) {
    have_near(Sleeps::alone);
    state_.clock = clock.clock();
    state_.checked_peers = state_.clock.now() + 1h;
    wanted_ = 2'000'000;
    Nanoseconds lasted{0};
    near_->at_poll = [&, by = round] {
      clock.move_on(by);
      lasted += by;
      near_->arrived.fetch_add(1);
    };
    EXPECT_EQ(wait(limit).code(), ErrorCode::timed_out);
    EXPECT_LE(lasted, limit + std::max<Nanoseconds>(3 * round, 3ms))
        << "rounds of " << round.count() << " ns";
  }
  state_.clock = {};  // this one ends before the state
}

// Without a limit too, a stall is reported soon after it is due. The first rounds are many before the clock is read.
TEST_F(Wait, LooksAroundSoonWhileSlowArrivalsGoOn) {
  support::ManualClock clock;
  state_.clock = clock.clock();
  state_.checked_peers = state_.clock.now() + 1h;
  const auto text = [](const void*) { return std::string("a test"); };
  state_.pacing.stall_warn = 1s;
  LongWait longer(state_, kNoRank, Nanoseconds::max(), text, nullptr);
  int rounds = 0;
  for (; rounds < 2000 && state_.statistics.stalls == 0; ++rounds) {
    clock.move_on(32ms);
    EXPECT_TRUE(longer.arrived());
  }
  EXPECT_LE(rounds, 200);  // the report is due after 32
  state_.clock = {};
}

TEST_F(Wait, IsNoLongerThanAConduitCanBeLeftAlone) {
  have_near(Sleeps::alone);
  near_->alone_for = 300us;
  EXPECT_EQ(wait(200ms).code(), ErrorCode::timed_out);
  ASSERT_GE(near_->slept.size(), 2u);
  EXPECT_LE(*std::max_element(near_->slept.begin(), near_->slept.end()), 300us);
}

TEST_F(Wait, IsNoneWhenAConduitNeedsAPollNow) {
  have(Sleeps::with_others, Sleeps::with_others);
  far_->alone_for = 0ns;
  const auto before = Clock::now();
  EXPECT_EQ(wait(20ms).code(), ErrorCode::timed_out);
  EXPECT_LT(Clock::now() - before, 10s);
  EXPECT_GT(far_->polls, 500);
}

TEST_F(Wait, OnTwoOfWhichOneHasNoDescriptorNapsAndMissesNothing) {
  for (const auto& [near, far] :
       {std::pair{Sleeps::alone, Sleeps::with_others}, std::pair{Sleeps::with_others, Sleeps::not_at_all}}) {
    have(near, far);
    wanted_ = 1;
    EXPECT_EQ(wait(30ms).code(), ErrorCode::timed_out);
    EXPECT_EQ(near_->slept.size() + far_->slept.size(), 0u);
    EXPECT_EQ(near_->armed.load() + far_->armed.load(), 0);
    far_->arrive();
    EXPECT_TRUE(wait(20s));
  }
}

TEST_F(Wait, ForRoomIsBriefAndEndedByTheFarOneOnly) {
  have(Sleeps::with_others, Sleeps::with_others);
  state_.busy = 1;
  EXPECT_EQ(wait(30ms).code(), ErrorCode::timed_out);
  EXPECT_EQ(near_->arms.load(), 0);
  EXPECT_GT(far_->arms.load(), 10);  // there would be five sleeps if they doubled from 1 ms
}

// One of two conduits wakes the sleep at a random time. If a wake-up were missed, the sleep would last until its limit.
TEST(JointSleep, MissesNoWake) {
  constexpr int kRounds = 4000;
  Fake near(Sleeps::with_others), far(Sleeps::with_others);
  NoInbox inbox;
  const auto until = Clock::now() + 60s;
  std::atomic<int> seen{0};
  std::thread waker([&] {
    for (int round = 1; round <= kRounds && Clock::now() < until; ++round) {
      // Every second wake-up comes during the sleep, or just before it.
      while (round % 2 == 0 && far.armed.load() == 0 && Clock::now() < until) std::this_thread::yield();
      (round % 3 == 0 ? near : far).arrive();
      while (seen.load() < round && Clock::now() < until) std::this_thread::yield();
    }
  });
  int late = 0;
  for (int round = 1; round <= kRounds && late == 0; ++round) {
    while (near.taken + far.taken < round && late == 0) {
      JointSleep joint(&near, &far);
      EXPECT_TRUE(joint.arm());
      if (near.poll(inbox) + far.poll(inbox) > 0) break;
      const auto began = Clock::now();
      joint.sleep(20s);
      if (Clock::now() - began > 15s) ++late;
    }
    seen = round;
  }
  seen = kRounds;
  waker.join();
  EXPECT_EQ(late, 0) << "a sleep that the waker should have ended lasted to its limit";
  EXPECT_EQ(near.armed.load() + far.armed.load(), 0);
}

TEST(JointSleep, OfNothingIsRefused) {
  EXPECT_FALSE(JointSleep(nullptr, nullptr).arm());
  Fake mute(Sleeps::not_at_all), able(Sleeps::with_others);
  EXPECT_FALSE(JointSleep(&mute, nullptr).arm());
  EXPECT_FALSE(JointSleep(&able, &mute).arm());
  EXPECT_EQ(able.arms.load(), 0);
  EXPECT_TRUE(JointSleep(&able, nullptr).arm());
  EXPECT_EQ(able.armed.load(), 0);
}

}  // namespace
}  // namespace aqueduct::core
