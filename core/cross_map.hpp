#pragma once

#include <aqueduct/global_ptr.hpp>
#include <aqueduct/rank.hpp>
#include <aqueduct/status.hpp>

#include "core/post.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace aqueduct::core {

/// Memory that neighbours map, so that plain instructions reach it.
class CrossMap {
 public:
  /// The most bytes that this conduit can allocate now, apart from what the machine has in memory.
  struct Room {
    std::uint64_t one = UINT64_MAX;  ///< in one call
    std::uint64_t all = UINT64_MAX;  ///< in all further calls of the ranks of this host together
  };

  virtual ~CrossMap() = default;
  /// Returns zeroed memory for a segment of mine, whose id is not known yet. `number` is different in every call; it is
  /// for names and the log. After a failure the log says what to try.
  virtual Result<MutableBytes> allocate(std::uint32_t number, std::size_t bytes) = 0;
  /// The limits of `allocate`, such as the room in a file system.
  virtual Room room() const { return {}; }
  /// Frees memory that `allocate` returned. No rank uses it any more, but neighbours may still have it mapped.
  virtual void release(MutableBytes memory) noexcept = 0;
  /// Returns what a neighbour needs to map the segment; empty if no neighbour can.
  /// `allocated` is false for memory that the program attaches: it can be mapped only inside its own process.
  virtual std::vector<std::byte> export_map(SegmentId id, MutableBytes memory, bool allocated) = 0;
  /// Returns the address at which a neighbour's segment of `bytes`
  /// bytes is mapped here. `key` is from its `export_map`.
  /// Errors: not_supported, peer_lost, no_memory. After an error the segment is reached over the wire.
  virtual Result<std::byte*> map(Rank peer, Bytes key, std::size_t bytes) = 0;
  /// Gives back what `map` returned, once for each call of `map`.
  virtual void unmap(Rank /*peer*/, std::byte* /*at*/) noexcept {}
  /// Wakes a neighbour that sleeps. The layers above call it when they have changed memory for which the neighbour
  /// may be waiting, so it must be cheap if the neighbour is awake: a load.
  virtual void wake(Rank peer) noexcept = 0;
  /// How to see whether a neighbour needs to be woken.
  struct Sleeper {
    const std::atomic<std::uint32_t>* word = nullptr;  ///< not 0 while it sleeps; null: only `wake` knows
    /// Who goes to sleep makes all others execute a memory barrier, so that a release store before a plain look at the
    /// word is enough. Otherwise both are sequentially consistent.
    bool fenced = false;
  };
  virtual Sleeper sleeper(Rank /*peer*/) const noexcept { return {}; }
  /// What a neighbour's NativeRma::import_key needs to `get` out of any memory of this process, by copies that the system makes:
  /// an offset is then an address, and a `get` is done or fails. Empty: neighbours cannot.
  virtual std::vector<std::byte> export_process() { return {}; }
  /// Whether a neighbour is in this process, so that its addresses are this rank's too.
  virtual bool in_this_process(Rank /*peer*/) const noexcept { return false; }
};

}  // namespace aqueduct::core
