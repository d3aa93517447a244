#pragma once

#include "conduits/smp/arena.hpp"
#include "conduits/smp/leftovers.hpp"
#include "conduits/smp/segment_memory.hpp"
#include "core/network.hpp"

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

namespace aqueduct::conduits::smp {

/// The state of the smp conduit that the endpoints of a process share: the arena, the mapped segments, and the local
/// number of each rank.
///
/// Threads: the endpoints use it from their own threads, under the mutex: when they start and when a segment is mapped,
///          never in a transfer.
class SmpNetwork final : public core::Network {
 public:
  explicit SmpNetwork(const core::Process& process);

  Result<std::unique_ptr<core::Conduit>> open(Rank me) override;

  const core::Process& process() const noexcept { return process_; }
  const std::vector<Rank>& local_ranks() const noexcept { return local_ranks_; }
  /// A rank's number among the ranks of this host; local_ranks().size() if it is on another host.
  std::uint32_t local_of(Rank rank) const noexcept { return local_of_[rank]; }
  const std::uint32_t* locals() const noexcept { return local_of_.data(); }
  bool in_this_process(Rank rank) const noexcept;
  /// The mark of this process, by which other processes recognise it (see Cma). Its address does not change.
  const std::uint64_t& mark() const noexcept { return mark_; }

  /// The arena. Attached with the key if the process does not have it yet: the process of the first local rank makes
  /// it.
  Result<Arena*> arena(std::span<const std::byte> key);
  Result<Arena*> make_arena();
  Arena& arena() noexcept { return *arena_; }
  /// Whether senders need no fence, because a rank that goes to sleep makes them execute one (membarrier).
  bool has_membarrier() const noexcept { return has_membarrier_; }

  Result<std::span<std::byte>> allocate(Rank owner, std::uint32_t number, std::size_t bytes,
                                        std::vector<std::byte>& key);
  void release(std::span<std::byte> memory) noexcept;
  /// Maps a segment of another process. Each object of shared memory is mapped once per process. Logs a failure.
  Result<std::byte*> map(Rank peer, std::span<const std::byte> key);
  /// Undoes one call of `map`. After the last one the object is unmapped. Ignores addresses that `map` did not return.
  void unmap(const std::byte* at) noexcept;

 private:
  /// An object of another process's shared memory, and how many mappings of segments in it are in use here.
  struct Mapped {
    SharedMemory memory;
    std::size_t users = 0;
  };

  Status prepare_for_files();

  core::Process process_;
  std::vector<Rank> local_ranks_;
  std::vector<std::uint32_t> local_of_;  // [rank]
  std::uint64_t mark_;
  bool has_membarrier_;
  std::mutex mutex_;
  std::optional<AliveFile> alive_;  ///< if shared memory is made of files, which it must outlive
  bool said_ = false;               ///< has warned that memory cannot be mapped
  std::unique_ptr<Arena> arena_;
  SegmentMemory mine_;
  std::map<std::vector<std::byte>, Mapped> theirs_;  // by key
};

}  // namespace aqueduct::conduits::smp
