#include "conduits/smp/sleep.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <new>
#include <string>
#include <thread>

#include <poll.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

namespace aqueduct::conduits::smp {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

/// A rank's block in memory shared with child processes.
class Block {
 public:
  Block() {
    void* at = ::mmap(nullptr, sizeof(RankBlock), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    EXPECT_NE(at, MAP_FAILED);
    block_ = new (at) RankBlock{};
  }
  ~Block() { ::munmap(block_, sizeof(RankBlock)); }
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;
  RankBlock& operator*() const noexcept { return *block_; }
  RankBlock* operator->() const noexcept { return block_; }

 private:
  RankBlock* block_;
};

/// The variants: membarrier or sequentially consistent accesses; futex or descriptor.
struct Way {
  bool membarrier = false;
  bool descriptor = false;
};

class Sleep : public testing::TestWithParam<Way> {
 protected:
  void SetUp() override {
    if (GetParam().membarrier && !register_membarrier())
      GTEST_SKIP() << "this kernel has no barriers that can be forced";
  }
  void arm() {
    if (!GetParam().descriptor) return sleeper_.arm();
    ASSERT_GE(sleeper_.arm_descriptor(), 0);
  }
  void sleep(std::chrono::milliseconds limit) {
    if (!GetParam().descriptor) return sleeper_.sleep(limit);
    pollfd one{sleeper_.descriptor(), POLLIN, 0};
    ::poll(&one, 1, static_cast<int>(limit.count()));
  }
  void wake() { wake_if_asleep(*block_, GetParam().membarrier); }

  Block block_;
  Sleeper sleeper_{*block_, GetParam().membarrier};
};

TEST_P(Sleep, EndsAtItsLimit) {
  arm();
  const auto began = Clock::now();
  sleep(20ms);
  sleeper_.disarm();
  EXPECT_GE(Clock::now() - began, 15ms);
  EXPECT_EQ(block_->sleeping.load(), 0u);
}

TEST_P(Sleep, IsNotBegunWhenTheBellRangSinceArming) {
  arm();
  wake();
  const auto began = Clock::now();
  sleep(30s);
  EXPECT_LT(Clock::now() - began, 10s);
  sleeper_.disarm();
}

TEST_P(Sleep, OfNobodyCostsNoBell) {
  wake();
  EXPECT_EQ(block_->bell.load(), 0u);
  arm();
  EXPECT_NE(block_->sleeping.load(), 0u);
  wake();
  EXPECT_EQ(block_->sleeping.load(), 0u);  // so a second waker finds it awake
  const auto rung = block_->bell.load();
  wake();
  EXPECT_EQ(block_->bell.load(), rung);
  sleeper_.disarm();
}

TEST_P(Sleep, IsNotDisturbedByTheRingOfAnEarlierOne) {
  for (int earlier = 0; earlier < 5; ++earlier) {
    arm();
    wake();
    sleeper_.disarm();
  }
  arm();
  const auto began = Clock::now();
  sleep(20ms);
  sleeper_.disarm();
  EXPECT_GE(Clock::now() - began, 15ms);
}

TEST_P(Sleep, MayChangeItsWay) {
  sleeper_.arm();
  wake();
  sleeper_.disarm();
  const auto began = Clock::now();
  const int fd = sleeper_.arm_descriptor();
  ASSERT_GE(fd, 0);
  wake();
  pollfd one{fd, POLLIN, 0};
  EXPECT_EQ(::poll(&one, 1, 30'000), 1);
  sleeper_.disarm();
  sleeper_.arm();
  wake();
  sleeper_.sleep(30s);
  sleeper_.disarm();
  EXPECT_LT(Clock::now() - began, 20s);
}

TEST_P(Sleep, IsEndedByAnotherProcess) {
  const pid_t child = ::fork();
  if (child == 0) {
    if (GetParam().membarrier && !register_membarrier()) ::_exit(1);
    const auto until = Clock::now() + 20s;
    while (block_->sleeping.load() == 0) {
      if (Clock::now() > until) ::_exit(2);
      std::this_thread::yield();
    }
    wake();
    ::_exit(0);
  }
  const auto began = Clock::now();
  arm();
  sleep(30s);
  sleeper_.disarm();
  EXPECT_LT(Clock::now() - began, 25s);
  int status = -1;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

// One side writes, then checks whether the other sleeps. The other announces its sleep, then checks again for writes.
// One of the two must see the other.
TEST_P(Sleep, MissesNoWake) {
  constexpr std::uint32_t kRounds = 3000;
  Block word;  // its bell is the memory that is waited for; `sleeping` is the answer
  auto& sent = word->bell;
  auto& seen = word->sleeping;
  const auto order = GetParam().membarrier ? std::memory_order_release : std::memory_order_seq_cst;
  const auto until = Clock::now() + 60s;
  std::thread writer([&] {
    for (std::uint32_t round = 1; round <= kRounds && Clock::now() < until; ++round) {
      sent.store(round, order);
      wake();
      while (seen.load() < round && Clock::now() < until) std::this_thread::yield();
    }
  });
  int late = 0;
  for (std::uint32_t round = 1; round <= kRounds && late == 0; ++round) {
    while (sent.load(std::memory_order_acquire) < round && late == 0) {
      arm();
      if (sent.load(GetParam().membarrier ? std::memory_order_acquire : std::memory_order_seq_cst) < round) {
        const auto began = Clock::now();
        sleep(20s);
        if (Clock::now() - began > 15s) ++late;
      }
      sleeper_.disarm();
    }
    seen.store(round);
  }
  seen.store(kRounds);
  writer.join();
  EXPECT_EQ(late, 0) << "a sleep that the writer should have ended lasted to its limit";
}

INSTANTIATE_TEST_SUITE_P(Smp, Sleep,
                         testing::Values(Way{false, false}, Way{false, true}, Way{true, false},
                                         Way{true, true}),
                         [](const auto& instance) {
                           return std::string(instance.param.membarrier ? "WithMembarrier" : "WithFences") +
                                  (instance.param.descriptor ? "OnTheDescriptor" : "OnTheFutex");
                         });

}  // namespace
}  // namespace aqueduct::conduits::smp
