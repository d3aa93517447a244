#pragma once

#include "conduits/smp/memory.hpp"
#include "conduits/smp/ring.hpp"
#include "core/network.hpp"

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

namespace aqueduct::conduits::smp {

inline constexpr std::uint32_t kMagic = 0x41715350;  // "AqSP"
inline constexpr std::uint32_t kArenaVersion = 3;
inline constexpr std::size_t kLine = 128;  // two cache lines, because processors fetch lines in pairs

/// The state of a rank, as its neighbours see it.
enum class RankState : std::uint32_t { not_started, alive, left, dead };

/// The part of the arena that one rank owns.
struct alignas(kLine) RankBlock {
  // Read by every sender. Written when the rank goes to sleep or wakes up.
  std::atomic<std::uint32_t> sleeping;  ///< how to wake the rank: 0 awake, 1 by `bell`, else by a Doorbell
  std::atomic<std::uint32_t> bell;      ///< a futex; incremented to end a sleep
  alignas(kLine) std::atomic<std::uint64_t> arrived[4];  ///< bit s: local rank s has sent a packet
  alignas(kLine) std::atomic<std::uint64_t> barrier_phase;
  std::atomic<std::uint64_t>
      barrier_votes[2];  ///< [phase % 2] of a barrier of two: this rank's vote, as bits
  alignas(kLine) std::atomic<RankState> state;
};

/// The beginning of the arena: memory that all ranks of a host share. A RankBlock for each rank and a ring for each
/// ordered pair of ranks follow.
struct ArenaHead {
  std::uint32_t magic;
  std::uint32_t version;
  std::uint32_t ranks;
  std::uint32_t reserved;
  RingShape ring;
  alignas(kLine) std::atomic<std::uint64_t> barrier_arrived;
  std::atomic<std::uint64_t>
      barrier_vote;  ///< the votes of those that have arrived at the next phase, merged
  alignas(kLine) std::atomic<std::uint64_t> barrier_phase;
  std::atomic<std::uint64_t> barrier_result;  ///< the votes of that phase, merged
};

/// The arena, mapped in one process.
class Arena {
 public:
  /// Makes the arena. Called in the process of the host's first rank.
  static Result<std::unique_ptr<Arena>> create(const core::Process& process, std::uint32_t local_ranks);
  /// Maps the arena that the first process has made. Called in the other processes.
  static Result<std::unique_ptr<Arena>> attach(const core::Process& process, std::span<const std::byte> key,
                                               std::uint32_t local_ranks);

  std::vector<std::byte> key() const { return memory_.key(); }
  std::uint32_t ranks() const noexcept { return head().ranks; }
  const RingShape& ring_shape() const noexcept { return head().ring; }
  ArenaHead& head() const noexcept { return *reinterpret_cast<ArenaHead*>(memory_.data()); }
  RankBlock& block(std::uint32_t local) const noexcept {
    return reinterpret_cast<RankBlock*>(memory_.data() + sizeof(ArenaHead))[local];
  }
  /// The ring of packets from one local rank to another.
  std::byte* ring(std::uint32_t from, std::uint32_t to) const noexcept;

  /// Takes the lock that proves that a local rank is alive: the system releases it when the process ends.
  Status lock_life(std::uint32_t local) noexcept;
  /// Whether a local rank of another process still holds that lock.
  bool lives(std::uint32_t local) const noexcept;

 private:
  explicit Arena(SharedMemory memory) noexcept : memory_(std::move(memory)) {}
  SharedMemory memory_;
};

}  // namespace aqueduct::conduits::smp
