#include "conduits/smp/smp_barrier.hpp"

#include "conduits/smp/sleep.hpp"
#include "conduits/smp/smp_network.hpp"

#include <algorithm>

namespace aqueduct::conduits::smp {
namespace {

using core::BarrierVote;

/// For two ranks: each writes its own line and polls the other's. One line moves in each direction, at the same time.
///
/// Votes:  a rank may notify a phase before the other rank has read its vote of the phase before, but never a phase
///         later. So two words are enough.
/// Phases: a team before this one may have used the words. All of its phases were reached, so on both ranks this team's
///         phases are counted from the same number.
class PairBarrier final : public core::NativeBarrier {
 public:
  PairBarrier(RankBlock& mine, RankBlock& other, Rank other_rank, bool has_membarrier, bool& claimed) noexcept
      : mine_(mine),
        other_(other),
        other_rank_(other_rank),
        has_membarrier_(has_membarrier),
        claimed_(claimed),
        before_(mine.barrier_phase.load(std::memory_order_relaxed)) {}

  void notify(std::uint64_t phase, BarrierVote vote) noexcept override {
    vote_ = vote;
    mine_.barrier_votes[phase % 2].store(vote.bits(), std::memory_order_relaxed);
    publish(mine_.barrier_phase, before_ + phase,
            has_membarrier_ ? std::memory_order_release : std::memory_order_seq_cst);
    wake_if_asleep(other_, has_membarrier_);
  }
  bool reached(std::uint64_t phase) noexcept override {
    return other_.barrier_phase.load(std::memory_order_acquire) >= before_ + phase;
  }
  BarrierVote result(std::uint64_t phase) noexcept override {
    BarrierVote all = vote_;
    all.merge(BarrierVote::from_bits(other_.barrier_votes[phase % 2].load(std::memory_order_relaxed)));
    return all;
  }
  std::vector<Rank> missing(std::uint64_t phase) const override {
    if (other_.barrier_phase.load(std::memory_order_relaxed) >= before_ + phase) return {};
    return {other_rank_};
  }
  void give_back() noexcept override { claimed_ = false; }

 private:
  RankBlock& mine_;
  RankBlock& other_;
  Rank other_rank_;
  bool has_membarrier_;
  bool& claimed_;
  std::uint64_t before_;  ///< phases of earlier teams
  BarrierVote vote_;      ///< mine of the last phase
};

/// For more ranks: a counter; the last rank to arrive ends the phase. With more ranks than cores, each rank has to be
/// scheduled only once per barrier. Algorithms with several rounds need more.
///
/// Votes:  a rank merges its vote before it counts itself. The last rank takes the merged vote and clears the word
///         before it ends the phase. It replaces the result of the phase before, which every rank has read by then.
/// Phases: as PairBarrier; no rank of this team has ended one when a rank makes its barrier, since all must arrive.
class CounterBarrier final : public core::NativeBarrier {
 public:
  CounterBarrier(SmpNetwork& network, Arena& arena, Rank me, bool& claimed) noexcept
      : network_(network),
        arena_(arena),
        mine_(arena.block(network.local_of(me))),
        has_membarrier_(network.has_membarrier()),
        claimed_(claimed),
        before_(arena.head().barrier_phase.load(std::memory_order_relaxed)) {}

  void notify(std::uint64_t phase, BarrierVote vote) noexcept override {
    ArenaHead& head = arena_.head();
    const std::uint64_t now = before_ + phase;
    mine_.barrier_phase.store(now, std::memory_order_relaxed);  // its own line; for stall reports only
    if (!vote.is_anonymous()) add(head.barrier_vote, vote);
    if (head.barrier_arrived.fetch_add(1, std::memory_order_acq_rel) + 1 != now * arena_.ranks()) return;
    const std::uint64_t all = head.barrier_vote.load(std::memory_order_relaxed);
    if (all != 0) head.barrier_vote.store(0, std::memory_order_relaxed);
    head.barrier_result.store(all, std::memory_order_relaxed);
    publish(head.barrier_phase, now, has_membarrier_ ? std::memory_order_release : std::memory_order_seq_cst);
    for (std::uint32_t local = 0; local < arena_.ranks(); ++local) {
      wake_if_asleep(arena_.block(local), has_membarrier_);
    }
  }
  bool reached(std::uint64_t phase) noexcept override {
    return arena_.head().barrier_phase.load(std::memory_order_acquire) >= before_ + phase;
  }
  BarrierVote result(std::uint64_t) noexcept override {
    return BarrierVote::from_bits(arena_.head().barrier_result.load(std::memory_order_relaxed));
  }
  std::vector<Rank> missing(std::uint64_t phase) const override {
    std::vector<Rank> ranks;
    for (std::uint32_t local = 0; local < arena_.ranks(); ++local) {
      if (arena_.block(local).barrier_phase.load(std::memory_order_relaxed) < before_ + phase) {
        ranks.push_back(network_.local_ranks()[local]);
      }
    }
    return ranks;
  }
  void give_back() noexcept override { claimed_ = false; }

 private:
  static void add(std::atomic<std::uint64_t>& word, BarrierVote vote) noexcept {
    std::uint64_t seen = word.load(std::memory_order_relaxed);
    for (;;) {
      BarrierVote merged = BarrierVote::from_bits(seen);
      merged.merge(vote);
      if (merged.bits() == seen || word.compare_exchange_weak(seen, merged.bits(), std::memory_order_relaxed))
        return;
    }
  }

  SmpNetwork& network_;
  Arena& arena_;
  RankBlock& mine_;
  bool has_membarrier_;
  bool& claimed_;
  std::uint64_t before_;  ///< phases of earlier teams
};

}  // namespace

std::unique_ptr<core::NativeBarrier> Barriers::make_barrier(std::span<const Rank> members) {
  // The arena has words for one barrier: that of the team of all ranks of the host. Other teams get none.
  if (!std::ranges::equal(members, network_.local_ranks()) || claimed_) return nullptr;
  const std::uint32_t me = network_.local_of(me_);
  std::unique_ptr<core::NativeBarrier> made;
  if (members.size() != 2) {
    made = std::make_unique<CounterBarrier>(network_, *arena_, me_, claimed_);
  } else {
    made = std::make_unique<PairBarrier>(arena_->block(me), arena_->block(1 - me), members[1 - me],
                                         network_.has_membarrier(), claimed_);
  }
  claimed_ = true;  // last: where memory has run out, there is no barrier that would give the words back
  return made;
}

}  // namespace aqueduct::conduits::smp
