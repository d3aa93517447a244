#pragma once

#include "conduits/smp/arena.hpp"
#include "core/conduit.hpp"

#include <atomic>
#include <chrono>

namespace aqueduct::conduits::smp {

/// Asks the kernel for barriers that a sleeper can force upon all others; whether it has them.
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

/// Sleeping on a rank's own bell.
class Sleeper final : public core::Waitable {
 public:
  Sleeper(RankBlock& mine, bool has_membarrier) noexcept : mine_(mine), has_membarrier_(has_membarrier) {}
  void arm() noexcept override;
  void disarm() noexcept override;
  void sleep(std::chrono::nanoseconds limit) noexcept override;

 private:
  RankBlock& mine_;
  bool has_membarrier_;
  std::uint32_t heard_ = 0;
};

}  // namespace aqueduct::conduits::smp
