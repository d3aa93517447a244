#pragma once

#include "conduits/smp/arena.hpp"
#include "conduits/smp/leftovers.hpp"
#include "core/network.hpp"

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

namespace aqueduct::conduits::smp {

/// One process's share of the smp conduit: the arena, the segments mapped here, which rank is which local number.
///
/// Several endpoints of the process use it from their own threads: what they share is behind the mutex, and is
/// touched when they start and when a segment is mapped, never by a transfer.
class SmpNetwork final : public core::Network {
 public:
  explicit SmpNetwork(const core::Process& process);

  Result<std::unique_ptr<core::Conduit>> open(Rank me) override;

  const core::Process& process() const noexcept { return process_; }
  const std::vector<Rank>& local_ranks() const noexcept { return local_ranks_; }
  /// A rank's number among those of this host; local_ranks().size() if it is not one of them.
  std::uint32_t local_of(Rank rank) const noexcept { return local_of_[rank]; }
  const std::uint32_t* locals() const noexcept { return local_of_.data(); }
  bool in_this_process(Rank rank) const noexcept;
  /// Of this process; it stays where it is, so that others can look whether this is still the process that they know.
  const std::uint64_t& mark() const noexcept { return mark_; }

  /// The arena: made by the process of the first local rank, else attached with the key from its address.
  Result<Arena*> arena(std::span<const std::byte> key);
  Result<Arena*> make_arena();
  Arena& arena() noexcept { return *arena_; }
  /// Senders need no fence: whoever goes to sleep interrupts them instead.
  bool has_membarrier() const noexcept { return has_membarrier_; }

  Result<std::span<std::byte>> allocate(Rank owner, SegmentId id, std::size_t bytes,
                                        std::vector<std::byte>& key);
  void release(std::span<std::byte> memory) noexcept;
  /// A neighbour's segment of another process; mapped once per process. Logs why it cannot be.
  Result<std::byte*> map(Rank peer, std::span<const std::byte> key);

 private:
  Status prepare_for_files();

  core::Process process_;
  std::vector<Rank> local_ranks_;
  std::vector<std::uint32_t> local_of_;  // [rank]
  std::uint64_t mark_;
  bool has_membarrier_;
  std::mutex mutex_;
  std::optional<AliveFile> alive_;  ///< where shared memory is made of files; it outlives them
  bool said_ = false;               ///< that something cannot be mapped
  std::unique_ptr<Arena> arena_;
  std::vector<SharedMemory> mine_;
  std::map<std::vector<std::byte>, SharedMemory> theirs_;  // by key
};

}  // namespace aqueduct::conduits::smp
