#include "core/progress_thread.hpp"

#include <gtest/gtest.h>

#include <array>
#include <csignal>

#include <pthread.h>
#include <sys/eventfd.h>
#include <unistd.h>

namespace aqueduct::core {
namespace {

using namespace std::chrono_literals;

constexpr auto kPatience = 5ms;

/// A progress thread that counts its turns, with a descriptor on which nothing arrives.
class Counted {
 public:
  Counted()
      : thread_("counted", kPatience, quiet_.number, [this](const ProgressThread& thread) {
          if (!thread.owner_is_awake()) ++wrong_turns_;
          ++turns_;
          turns_.notify_all();
          return std::chrono::nanoseconds(1ms);
        }) {}

  ProgressThread& thread() noexcept { return thread_; }
  int turns() const noexcept { return turns_.load(); }
  int wrong_turns() const noexcept { return wrong_turns_.load(); }
  /// Whether it makes `more` further turns within half a minute.
  bool makes(
      int more, const std::function<void()>& meanwhile = [] {}) {
    const int wanted = turns() + more;
    const auto end = std::chrono::steady_clock::now() + 30s;
    while (turns() < wanted && std::chrono::steady_clock::now() < end) {
      meanwhile();
      std::this_thread::yield();
    }
    return turns() >= wanted;
  }

 private:
  struct Quiet {
    int number = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    ~Quiet() { ::close(number); }
  };
  Quiet quiet_;
  std::atomic<int> turns_{0};
  std::atomic<int> wrong_turns_{0};
  ProgressThread thread_;
};

TEST(ProgressThread, StandsInForAnOwnerWhoDoesNotPollUntilHeDoes) {
  Counted away;
  ASSERT_TRUE(away.makes(3));
  away.thread().owner_polls();  // the thread stops standing in, and starts again later
  EXPECT_TRUE(away.makes(3));
}

// A second thread is the clock: if the machine is stopped for a time, it is stopped for both.
TEST(ProgressThread, LeavesAnOwnerAloneWhoPolls) {
  Counted polled;
  Counted clock;
  ASSERT_TRUE(clock.makes(100, [&] { polled.thread().owner_polls(); }));
  EXPECT_LT(polled.turns(), clock.turns() / 2);
}

TEST(ProgressThread, LeavesAnOwnerAloneWhoSleeps) {
  Counted sleeps;
  sleeps.thread().owner_sleeps(true);
  Counted clock;
  const int before = sleeps.turns();  // a turn may have begun
  ASSERT_TRUE(clock.makes(100));
  EXPECT_LE(sleeps.turns(), before + 1);
  EXPECT_LE(sleeps.wrong_turns(), 1);
  sleeps.thread().owner_sleeps(false);
  EXPECT_TRUE(sleeps.makes(1));
}

TEST(ProgressThread, TurnsAgainAtOnceWhenSomethingArrives) {
  const int arrivals = ::eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK);  // readable, and never read
  ASSERT_GE(arrivals, 0);
  std::atomic<int> turns{0};
  Counted clock;  // a turn each millisecond
  {
    const ProgressThread thread("arrivals", kPatience, arrivals, [&](const ProgressThread&) {
      ++turns;
      return std::chrono::nanoseconds::max();
    });
    ASSERT_TRUE(clock.makes(200));
    EXPECT_GT(turns.load(), clock.turns()) << "it waited though there was something to do";
  }
  ::close(arrivals);
}

TEST(ProgressThread, HasItsNameAndTakesNoSignals) {
  std::array<char, 16> name{};
  std::atomic<bool> blocked{false};
  std::atomic<bool> looked{false};
  const ProgressThread thread("aqueduct-test", kPatience, -1, [&](const ProgressThread&) {
    if (!looked.load()) {
      sigset_t mask;
      ::pthread_sigmask(SIG_BLOCK, nullptr, &mask);
      blocked = ::sigismember(&mask, SIGTERM) == 1 && ::sigismember(&mask, SIGUSR1) == 1;
      ::pthread_getname_np(::pthread_self(), name.data(), name.size());
      looked = true;
    }
    return std::chrono::nanoseconds(1ms);
  });
  const auto end = std::chrono::steady_clock::now() + 30s;
  while (!looked.load() && std::chrono::steady_clock::now() < end) std::this_thread::yield();
  ASSERT_TRUE(looked.load());
  EXPECT_TRUE(blocked.load());
  EXPECT_STREQ(name.data(), "aqueduct-test");
  sigset_t mine;
  ::pthread_sigmask(SIG_BLOCK, nullptr, &mine);
  EXPECT_EQ(::sigismember(&mine, SIGTERM), 0) << "whoever starts it keeps its own";
}

}  // namespace
}  // namespace aqueduct::core
