#pragma once

#include "conduits/smp/arena.hpp"
#include "core/conduit.hpp"
#include "core/progress_thread.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>

namespace aqueduct::conduits::smp {

/// Registers this process for membarrier(2), by which a sleeper makes all registered processes execute a memory
/// barrier. Returns whether the kernel supports it. May be called repeatedly.
bool register_membarrier() noexcept;

/// Wakes a rank that sleeps.
void ring_bell(RankBlock& block) noexcept;

/// Ends a neighbour's sleep, if it sleeps. Called after a write to its memory or to a ring.
///
/// This side writes, then checks whether the neighbour sleeps. The neighbour announces its sleep, then checks once
/// more for writes. One of the two must see the other. With membarrier the sleeper ensures that, and the check here
/// is a plain load. Without it, the write before this call and all accesses to `sleeping` must be sequentially
/// consistent.
inline void wake_if_asleep(RankBlock& block, bool has_membarrier) noexcept {
  if (has_membarrier) {
    std::atomic_signal_fence(std::memory_order_seq_cst);
    if (block.sleeping.load(std::memory_order_relaxed) != 0) [[unlikely]]
      ring_bell(block);
  } else if (block.sleeping.load(std::memory_order_seq_cst) != 0) [[unlikely]] {
    ring_bell(block);
  }
}

/// Puts a rank to sleep: on the futex in its block, or on a socket if other descriptors may end the sleep too.
class Sleeper final : public core::Waitable {
 public:
  Sleeper(RankBlock& mine, bool has_membarrier) noexcept : mine_(mine), has_membarrier_(has_membarrier) {}
  ~Sleeper() override;
  Sleeper(const Sleeper&) = delete;
  Sleeper& operator=(const Sleeper&) = delete;

  void arm() noexcept override;
  void disarm() noexcept override;
  void sleep(std::chrono::nanoseconds limit) noexcept override;
  int descriptor() const noexcept override { return socket_; }
  int arm_descriptor() noexcept override;
  /// Sets the progress thread, which drains the rings while the owner is away. It must not do so while the owner
  /// sleeps: a packet that the thread takes would not wake the owner.
  void tell(core::ProgressThread* thread) noexcept { thread_ = thread; }

 private:
  /// Announces the sleep to senders, and to the progress thread.
  void say(std::uint32_t how_i_sleep) noexcept;

  RankBlock& mine_;
  bool has_membarrier_;
  std::uint32_t heard_ = 0;  ///< value of the bell at `arm`: a later ring makes the sleep return at once
  int socket_ = -1;          ///< made at the first `arm_descriptor`
  core::ProgressThread* thread_ = nullptr;
  std::uint32_t called_ = 0;  ///< value of `sleeping` during a sleep on the socket
};

}  // namespace aqueduct::conduits::smp
