#pragma once

#include "conduits/smp/arena.hpp"
#include "core/conduit.hpp"
#include "core/progress_thread.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>

namespace aqueduct::conduits::smp {

/// Asks the kernel for barriers that a sleeper can force upon all others; whether it has them. Asked again, it
/// only answers.
bool register_membarrier() noexcept;

void ring_bell(RankBlock& block) noexcept;

/// Ends a neighbour's sleep, if it sleeps: after its memory or a ring was changed.
///
/// The race is between "write, then look whether it sleeps" here and "say that I sleep, then look once more" there.
/// One of the two must see the other. With the kernel's barriers the sleeper sees to that and this is a plain load;
/// else `change` must have been a sequentially consistent write, as are both sides' accesses to `sleeping`.
inline void wake_if_asleep(RankBlock& block, bool has_membarrier) noexcept {
  if (has_membarrier) {
    std::atomic_signal_fence(std::memory_order_seq_cst);
    if (block.sleeping.load(std::memory_order_relaxed) != 0) [[unlikely]]
      ring_bell(block);
  } else if (block.sleeping.load(std::memory_order_seq_cst) != 0) [[unlikely]] {
    ring_bell(block);
  }
}

/// Sleeping on a rank's own bell: a futex in its block; or a socket, when other descriptors may end the sleep too.
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
  /// A thread that looks after the rings while the owner is away, and must not while it sleeps: whatever it took would not
  /// wake the owner.
  void tell(core::ProgressThread* thread) noexcept { thread_ = thread; }

 private:
  void say(std::uint32_t how_i_sleep) noexcept;

  RankBlock& mine_;
  bool has_membarrier_;
  std::uint32_t heard_ = 0;
  int socket_ = -1;  ///< made at the first `arm_descriptor`
  core::ProgressThread* thread_ = nullptr;
  std::uint32_t called_ = 0;  ///< what `sleeping` says while I sleep on it
};

}  // namespace aqueduct::conduits::smp
