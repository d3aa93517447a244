#include "core/guard.hpp"

#include <aqueduct/expect.hpp>

#include "core/descriptors.hpp"

#include <algorithm>
#include <climits>
#include <utility>

#include <linux/futex.h>
#include <sched.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

namespace aqueduct::core {
namespace {

#ifdef AQUEDUCT_CHECKED
constexpr bool kFindsOverlaps = true;
#else
constexpr bool kFindsOverlaps = false;
#endif

// Chosen: looks at a lock that another thread holds, before this thread yields; a call takes 0.1 to 1 us.
constexpr int kGuardSpins = 200;
// Chosen: the longest pause between two such looks, in single pauses. Each look takes the lock's cache line away from the
// thread that has it.
constexpr int kGuardLongestPause = 32;
// Chosen: yields before it naps. A handler may hold the lock for long.
constexpr int kGuardYields = 200;
constexpr long kGuardNap = 50'000;  // ns
// Chosen: after so many calls of one thread another thread that waits is let in. Fewer move the lock's cache lines, and
// the endpoint's, between cores more often.
constexpr std::uint32_t kMostPassedBy = 64;

/// The address of this thread's own is its name: no two threads that live have the same.
[[gnu::tls_model("initial-exec")]] constinit thread_local char mark = 0;
/// The innermost handler that this thread runs outside a lock.
[[gnu::tls_model("initial-exec")]] constinit thread_local const HandlerOutside* handler_outside = nullptr;

void relax_guard() noexcept {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("isb" ::: "memory");
#endif
}

}  // namespace

Guard::Guard(Threads threads) noexcept
    : threads_(threads),
      guards_(threads == Threads::multiple || (kFindsOverlaps && threads == Threads::serialized)) {
  // Without a descriptor a sleeping poller is not woken by other threads' calls: its sleeps are bounded all the same.
  if (shared()) bell_ = above_standard(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC));
}

Guard::~Guard() {
  if (bell_ >= 0) ::close(bell_);
}

bool Guard::is_mine() const noexcept {
  return !guards_ || owner_.load(std::memory_order_relaxed) == static_cast<Thread>(&mark);
}

void Guard::enter() noexcept {
  const Thread me = &mark;
  // Only this thread stores `me`, so a relaxed load is enough to see whether it has the lock.
  if (owner_.load(std::memory_order_relaxed) == me) {
    ++depth_;
    return;
  }
  Thread none = nullptr;
  if (!owner_.compare_exchange_strong(none, me, std::memory_order_acquire, std::memory_order_relaxed))
      [[unlikely]] {
    enter_slowly(me);
  }
  depth_ = 1;
  if (polling_ != nullptr) [[unlikely]]
    *polling_ = *in_handler_ = runs_handler_outside();
}

void Guard::enter_slowly(Thread me) noexcept {
  AQUEDUCT_EXPECT(
      shared(),
      "two threads are in calls on one endpoint of a job with Threads::serialized: the program must "
      "let in one at a time, or start the job with Threads::multiple");
  wanted_.fetch_add(1, std::memory_order_relaxed);
  int pause = 1;
  for (int looks = 0;; ++looks) {
    Thread none = nullptr;
    if (owner_.load(std::memory_order_relaxed) == nullptr &&
        owner_.compare_exchange_weak(none, me, std::memory_order_acquire, std::memory_order_relaxed)) {
      break;
    }
    if (looks < kGuardSpins) {
      for (int i = 0; i < pause; ++i) relax_guard();
      looks += pause - 1;
      pause = std::min(2 * pause, kGuardLongestPause);
    } else if (looks < kGuardSpins + kGuardYields) {
      ::sched_yield();
    } else {
      const timespec nap{0, kGuardNap};
      ::nanosleep(&nap, nullptr);
    }
  }
  wanted_.fetch_sub(1, std::memory_order_relaxed);
}

void Guard::leave() noexcept {
  if (--depth_ != 0) return;
  free(true);
}

void Guard::free(bool ring) noexcept {
  if (polling_ != nullptr) [[unlikely]]
    *polling_ = *in_handler_ = false;  // of a handler under the lock they are false already: it frees no lock
  ring = takes_ring(ring);
  const bool yields = wanted_.load(std::memory_order_relaxed) != 0 && ++passed_by_ >= kMostPassedBy;
  if (yields) passed_by_ = 0;
  owner_.store(nullptr, std::memory_order_release);
  if (ring) [[unlikely]]
    ring_bell();
  if (yields) [[unlikely]]
    yield_to_others();
}

void Guard::ring_bell() const noexcept {
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = ::write(bell_, &one, sizeof one);  // if it is full, it is readable
}

// The lock is free. Returns when another thread has taken it, or after a while: the other may not be running.
void Guard::yield_to_others() const noexcept {
  const auto taken = [this] {
    return wanted_.load(std::memory_order_relaxed) == 0 || owner_.load(std::memory_order_relaxed) != nullptr;
  };
  for (int looks = 0; looks < kGuardSpins; ++looks) {
    if (taken()) return;
    relax_guard();
  }
  ::sched_yield();
}

std::uint32_t Guard::let_go(Why why) noexcept {
  const std::uint32_t depth = depth_;
  depth_ = 0;
  if (why == Why::sleeps && bell_ >= 0) {
    // Earlier rings announced calls whose effects this thread has seen. A late ring ends this sleep early, once.
    std::uint64_t rings = 0;
    [[maybe_unused]] const auto taken = ::read(bell_, &rings, sizeof rings);
    asleep_ = true;
  }
  free(why == Why::begins_to_wait);
  return depth;
}

void Guard::take_back(std::uint32_t depth) noexcept {
  enter();
  depth_ = depth;
  if (turn_ == static_cast<Thread>(&mark)) asleep_ = false;
}

void Guard::seize(std::uint32_t depth) noexcept {
  owner_.store(&mark, std::memory_order_relaxed);
  depth_ = depth;
  turn_ = nullptr;
}

void Guard::give_way_slowly() noexcept {
  const std::uint32_t depth = let_go(Why::looks_again);
  yield_to_others();
  take_back(depth);
}

bool Guard::take_turn() noexcept {
  const Thread me = &mark;
  if (turn_ == nullptr) turn_ = me;
  return turn_ == me;
}

void Guard::end_turn() noexcept {
  if (turn_ == static_cast<Thread>(&mark)) turn_ = nullptr;
  if (turn_ == nullptr && followers_ != 0) tell(false);
}

bool Guard::was_rung() noexcept { return std::exchange(rung_, false); }

// A follower that sleeps has counted itself in `sleepers_`, and then the system compares `news_` with what it has seen.
// Here the order is the reverse: `news_`, then `sleepers_`. Both are sequentially consistent, so either this thread sees
// the sleeper, or the system sees the news.
void Guard::tell(bool all) noexcept {
  news_.fetch_add(1, std::memory_order_seq_cst);
  if (sleepers_.load(std::memory_order_seq_cst) == 0) return;
  ::syscall(SYS_futex, &news_, FUTEX_WAKE_PRIVATE, all ? INT_MAX : 1, nullptr, nullptr, 0);
}

void Guard::sleep_until_news(std::uint32_t seen, std::chrono::nanoseconds limit) noexcept {
  if (limit.count() <= 0) return;
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(limit);
  const timespec time{seconds.count(), (limit - seconds).count()};
  sleepers_.fetch_add(1, std::memory_order_seq_cst);
  ::syscall(SYS_futex, &news_, FUTEX_WAIT_PRIVATE, seen, &time, nullptr, 0);
  sleepers_.fetch_sub(1, std::memory_order_seq_cst);
}

bool Guard::runs_handler_outside() const noexcept {
  for (const HandlerOutside* one = handler_outside; one != nullptr; one = one->outer_) {
    if (&one->guard_ == this) return true;
  }
  return false;
}

HandlerOutside::HandlerOutside(const Guard& guard) noexcept : guard_(guard), outer_(handler_outside) {
  handler_outside = this;
}

HandlerOutside::~HandlerOutside() { handler_outside = outer_; }

}  // namespace aqueduct::core
