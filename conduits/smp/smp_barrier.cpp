#include "conduits/smp/smp_barrier.hpp"

#include "conduits/smp/sleep.hpp"
#include "conduits/smp/smp_network.hpp"

#include <algorithm>

namespace aqueduct::conduits::smp {
namespace {

/// For two ranks: each writes its own line and polls the other's. One line moves in each direction, at the same time.
class PairBarrier final : public core::NativeBarrier {
 public:
  PairBarrier(RankBlock& mine, RankBlock& other, Rank other_rank, bool has_membarrier) noexcept
      : mine_(mine), other_(other), other_rank_(other_rank), has_membarrier_(has_membarrier) {}

  void notify(std::uint64_t phase) noexcept override {
    publish(mine_.barrier_phase, phase,
            has_membarrier_ ? std::memory_order_release : std::memory_order_seq_cst);
    wake_if_asleep(other_, has_membarrier_);
  }
  bool reached(std::uint64_t phase) noexcept override {
    return other_.barrier_phase.load(std::memory_order_acquire) >= phase;
  }
  std::vector<Rank> missing(std::uint64_t phase) const override {
    if (other_.barrier_phase.load(std::memory_order_relaxed) >= phase) return {};
    return {other_rank_};
  }

 private:
  RankBlock& mine_;
  RankBlock& other_;
  Rank other_rank_;
  bool has_membarrier_;
};

/// For more ranks: a counter; the last rank to arrive ends the phase. With more ranks than cores, each rank has to be
/// scheduled only once per barrier. Algorithms with several rounds need more.
class CounterBarrier final : public core::NativeBarrier {
 public:
  CounterBarrier(SmpNetwork& network, Arena& arena, Rank me) noexcept
      : network_(network),
        arena_(arena),
        mine_(arena.block(network.local_of(me))),
        has_membarrier_(network.has_membarrier()) {}

  void notify(std::uint64_t phase) noexcept override {
    ArenaHead& head = arena_.head();
    mine_.barrier_phase.store(phase, std::memory_order_relaxed);  // its own line; for stall reports only
    if (head.barrier_arrived.fetch_add(1, std::memory_order_acq_rel) + 1 != phase * arena_.ranks()) return;
    publish(head.barrier_phase, phase,
            has_membarrier_ ? std::memory_order_release : std::memory_order_seq_cst);
    for (std::uint32_t local = 0; local < arena_.ranks(); ++local) {
      wake_if_asleep(arena_.block(local), has_membarrier_);
    }
  }
  bool reached(std::uint64_t phase) noexcept override {
    return arena_.head().barrier_phase.load(std::memory_order_acquire) >= phase;
  }
  std::vector<Rank> missing(std::uint64_t phase) const override {
    std::vector<Rank> ranks;
    for (std::uint32_t local = 0; local < arena_.ranks(); ++local) {
      if (arena_.block(local).barrier_phase.load(std::memory_order_relaxed) < phase) {
        ranks.push_back(network_.local_ranks()[local]);
      }
    }
    return ranks;
  }

 private:
  SmpNetwork& network_;
  Arena& arena_;
  RankBlock& mine_;
  bool has_membarrier_;
};

}  // namespace

std::unique_ptr<core::NativeBarrier> Barriers::make_barrier(std::span<const Rank> members) {
  // The arena has words for one barrier: that of the team of all ranks of the host. Other teams use messages.
  if (!std::ranges::equal(members, network_.local_ranks()) || claimed_) return nullptr;
  claimed_ = true;
  const std::uint32_t me = network_.local_of(me_);
  if (members.size() != 2) return std::make_unique<CounterBarrier>(network_, *arena_, me_);
  return std::make_unique<PairBarrier>(arena_->block(me), arena_->block(1 - me), members[1 - me],
                                       network_.has_membarrier());
}

}  // namespace aqueduct::conduits::smp
