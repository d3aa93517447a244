#include "core/thread_nap.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <thread>

namespace aqueduct::core {
namespace {

using namespace std::chrono_literals;

/// A thread that naps once, for longer than a test lasts.
class Napper {
 public:
  explicit Napper(ThreadNap& nap)
      : nap_(nap), end_(std::async(std::launch::async, [&nap] { return nap.take(10h); })) {}
  ~Napper() {
    if (end_.valid()) nap_.stop();
  }
  bool awaits_owner() const {
    const auto limit = std::chrono::steady_clock::now() + 30s;
    while (!nap_.awaits_owner() && std::chrono::steady_clock::now() < limit) std::this_thread::yield();
    return nap_.awaits_owner();
  }
  bool ends() const { return end_.wait_for(30s) == std::future_status::ready; }
  ThreadNap::End how() { return end_.get(); }

 private:
  ThreadNap& nap_;
  std::future<ThreadNap::End> end_;
};

TEST(ThreadNap, EndsWhenTheOwnerWakes) {
  ThreadNap nap;
  nap.owner_sleeps(true);
  EXPECT_FALSE(nap.owner_is_awake());
  Napper napper(nap);
  ASSERT_TRUE(napper.awaits_owner());
  nap.owner_sleeps(false);
  ASSERT_TRUE(napper.ends()) << "it sleeps on while the owner is awake";
  EXPECT_EQ(napper.how(), ThreadNap::End::woke);
  EXPECT_TRUE(nap.owner_is_awake());
  EXPECT_FALSE(nap.awaits_owner());
}

TEST(ThreadNap, EndsWhenItIsStoppedWhetherTheOwnerSleepsOrNot) {
  for (const bool sleeps : {false, true}) {
    ThreadNap nap;
    nap.owner_sleeps(sleeps);
    Napper napper(nap);
    nap.stop();
    ASSERT_TRUE(napper.ends());
    EXPECT_EQ(napper.how(), ThreadNap::End::stopped);
    EXPECT_EQ(nap.take(10h), ThreadNap::End::stopped) << "and so do all later ones";
  }
}

TEST(ThreadNap, OfAnOwnerThatIsAwakeLastsItsTime) {
  ThreadNap nap;
  EXPECT_EQ(nap.take(1ms), ThreadNap::End::over);
  nap.owner_sleeps(true);
  nap.owner_sleeps(false);
  EXPECT_EQ(nap.take(1ms), ThreadNap::End::over);
}

// An owner that wakes just as the other thread lies down must not be missed.
TEST(ThreadNap, MissesNoWaking) {
  ThreadNap nap;
  std::atomic<int> naps{0};
  std::thread napper([&] {
    while (nap.take(0ns) != ThreadNap::End::stopped) naps.fetch_add(1);
  });
  const auto limit = std::chrono::steady_clock::now() + 60s;
  bool missed = false;
  for (int i = 0; i < 200 && !missed; ++i) {
    const int before = naps.load();
    nap.owner_sleeps(true);
    nap.owner_sleeps(false);
    while (naps.load() == before && !missed) {
      std::this_thread::yield();
      missed = std::chrono::steady_clock::now() > limit;
    }
  }
  EXPECT_FALSE(missed) << "a nap had no end";
  nap.stop();
  napper.join();
}

}  // namespace
}  // namespace aqueduct::core
