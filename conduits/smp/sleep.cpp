#include "conduits/smp/sleep.hpp"

#include "conduits/smp/doorbell.hpp"

#include <climits>

#include <linux/futex.h>
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

namespace aqueduct::conduits::smp {
namespace {

// The values of RankBlock::sleeping: 0 while awake, otherwise how to wake the rank.
constexpr std::uint32_t kOnFutex = 1;
constexpr std::uint32_t kOnDoorbell = std::uint32_t{1} << 31;  // the doorbell's name is in the lower bits

// Not FUTEX_PRIVATE_FLAG: the futex is shared with other processes.
void futex_wake(std::atomic<std::uint32_t>& word) noexcept {
  ::syscall(SYS_futex, &word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

void futex_wait(std::atomic<std::uint32_t>& word, std::uint32_t while_it_is, const timespec& limit) noexcept {
  ::syscall(SYS_futex, &word, FUTEX_WAIT, while_it_is, &limit, nullptr, 0);
}

}  // namespace

bool register_membarrier() noexcept {
  const long can = ::syscall(SYS_membarrier, MEMBARRIER_CMD_QUERY, 0, 0);
  if (can < 0 || (can & MEMBARRIER_CMD_GLOBAL_EXPEDITED) == 0) return false;
  return ::syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED, 0, 0) == 0;
}

void ring_bell(RankBlock& block) noexcept {
  const std::uint32_t how = block.sleeping.exchange(0);
  if (how == 0) return;  // another sender has woken it
  if ((how & kOnDoorbell) != 0) return ring_doorbell(how & ~kOnDoorbell);
  block.bell.fetch_add(1);
  futex_wake(block.bell);
}

Sleeper::~Sleeper() {
  if (socket_ >= 0) ::close(socket_);
}

void Sleeper::say(std::uint32_t how_i_sleep) noexcept {
  if (thread_ != nullptr) thread_->owner_sleeps(true);
  mine_.sleeping.store(how_i_sleep, std::memory_order_seq_cst);
  if (has_membarrier_) ::syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL_EXPEDITED, 0, 0);
}

void Sleeper::arm() noexcept {
  heard_ = mine_.bell.load();
  say(kOnFutex);
}

int Sleeper::arm_descriptor() noexcept {
  if (socket_ < 0) {
    const Doorbell made = make_doorbell();
    if (made.socket < 0) return -1;
    socket_ = made.socket;
    called_ = kOnDoorbell | made.name;
  }
  // Earlier rings announced what the next poll finds, so they are discarded. A late ring for an earlier sleep ends
  // this one early, and is discarded before the next.
  silence_doorbell(socket_);
  say(called_);
  return socket_;
}

void Sleeper::disarm() noexcept {
  mine_.sleeping.store(0, std::memory_order_relaxed);
  if (thread_ != nullptr) thread_->owner_sleeps(false);
}

void Sleeper::sleep(std::chrono::nanoseconds limit) noexcept {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(limit);
  futex_wait(mine_.bell, heard_, {seconds.count(), (limit - seconds).count()});
}

}  // namespace aqueduct::conduits::smp
