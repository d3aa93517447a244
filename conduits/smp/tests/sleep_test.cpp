#include "conduits/smp/sleep.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <new>
#include <thread>

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

namespace aqueduct::conduits::smp {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

/// A rank's block in memory that children share.
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

class Sleep : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    if (GetParam() && !register_membarrier())
      GTEST_SKIP() << "this kernel has no barriers that can be forced";
  }
  Block block_;
  Sleeper sleeper_{*block_, GetParam()};
};

TEST_P(Sleep, EndsAtItsLimit) {
  sleeper_.arm();
  const auto began = Clock::now();
  sleeper_.sleep(20ms);
  sleeper_.disarm();
  EXPECT_GE(Clock::now() - began, 15ms);
  EXPECT_EQ(block_->sleeping.load(), 0u);
}

TEST_P(Sleep, IsNotBegunWhenTheBellRangSinceArming) {
  sleeper_.arm();
  wake_if_asleep(*block_, GetParam());
  const auto began = Clock::now();
  sleeper_.sleep(30s);
  EXPECT_LT(Clock::now() - began, 10s);
  sleeper_.disarm();
}

TEST_P(Sleep, OfNobodyCostsNoBell) {
  wake_if_asleep(*block_, GetParam());
  EXPECT_EQ(block_->bell.load(), 0u);
  sleeper_.arm();
  wake_if_asleep(*block_, GetParam());
  wake_if_asleep(*block_, GetParam());
  EXPECT_EQ(block_->bell.load(), 1u);  // the second finds it awake
  sleeper_.disarm();
}

TEST_P(Sleep, IsEndedByAnotherProcess) {
  const pid_t child = ::fork();
  if (child == 0) {
    if (GetParam() && !register_membarrier()) ::_exit(1);
    const auto until = Clock::now() + 20s;
    while (block_->sleeping.load() == 0) {
      if (Clock::now() > until) ::_exit(2);
      std::this_thread::yield();
    }
    wake_if_asleep(*block_, GetParam());
    ::_exit(0);
  }
  const auto began = Clock::now();
  sleeper_.arm();
  sleeper_.sleep(30s);
  sleeper_.disarm();
  EXPECT_LT(Clock::now() - began, 25s);
  int status = -1;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

// "Write, then look whether it sleeps" against "say that I sleep, then look again": one must see the other.
TEST_P(Sleep, MissesNoWake) {
  constexpr std::uint32_t kRounds = 3000;
  Block word;  // its bell serves as the memory that is waited for, and as the answer
  auto& sent = word->bell;
  auto& seen = word->sleeping;
  const auto order = GetParam() ? std::memory_order_release : std::memory_order_seq_cst;
  const auto until = Clock::now() + 60s;
  std::thread writer([&] {
    for (std::uint32_t round = 1; round <= kRounds && Clock::now() < until; ++round) {
      sent.store(round, order);
      wake_if_asleep(*block_, GetParam());
      while (seen.load() < round && Clock::now() < until) std::this_thread::yield();
    }
  });
  int late = 0;
  for (std::uint32_t round = 1; round <= kRounds && late == 0; ++round) {
    while (sent.load(std::memory_order_acquire) < round && late == 0) {
      sleeper_.arm();
      if (sent.load(GetParam() ? std::memory_order_acquire : std::memory_order_seq_cst) < round) {
        const auto began = Clock::now();
        sleeper_.sleep(20s);
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

INSTANTIATE_TEST_SUITE_P(Smp, Sleep, testing::Bool(),
                         [](const auto& info) { return info.param ? "WithMembarrier" : "WithFences"; });

}  // namespace
}  // namespace aqueduct::conduits::smp
