#pragma once

#include "conduits/ucx/context.hpp"
#include "conduits/ucx/peers.hpp"
#include "core/conduit.hpp"
#include "core/handles.hpp"
#include "core/log.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace aqueduct::conduits::ucx {

/// A peer's segment: its address there, and the key that UCX needs to reach it.
struct RemoteKey {
  std::uint64_t address = 0;
  ucp_rkey_h rkey = nullptr;
  SegmentId segment = 0;
  bool by_network =
      false;  ///< puts go by the network; else by message, with the help of the owner's processor
};

/// Registered memory: this rank's segments, memory that UCX allocated for them, and the keys of peers' segments.
class Segments {
 public:
  /// `put_by` is AQUEDUCT_UCX_PUT.
  Segments(Context& context, Peers& peers, std::string put_by, Rank me, core::Log& log)
      : context_(context),
        ucp_(context.ucp()),
        peers_(peers),
        put_by_(std::move(put_by)),
        me_(me),
        log_(log) {}

  Result<std::vector<std::byte>> add(SegmentId id, core::MutableBytes memory);
  void remove(SegmentId id) noexcept;
  /// This rank's part of a segment; empty if it has no part.
  core::MutableBytes of(SegmentId id) const noexcept {
    return id < segments_.size() ? segments_[id].memory : core::MutableBytes{};
  }

  /// Imports a key that a peer's `add` returned. Returns a handle for `remote`.
  Result<std::uint64_t> import(Rank rank, core::Bytes key);
  /// Gives back what `import` returned. No operation that uses it is outstanding.
  void forget(std::uint64_t handle) noexcept;
  const RemoteKey& remote(std::uint64_t handle) const noexcept { return remote_[handle]; }

  /// Memory from UCX that other processes of this host can map.
  Result<core::MutableBytes> allocate(std::size_t bytes);
  void release(core::MutableBytes memory) noexcept;
  /// The key of allocated memory; empty if it was not allocated here.
  std::vector<std::byte> key_of_allocated(SegmentId id, core::MutableBytes memory);
  /// Maps a neighbour's allocated memory.
  Result<std::byte*> map(Rank rank, core::Bytes key);
  /// Gives back what `map` returned. Does nothing for this rank's own memory.
  void unmap(const std::byte* at) noexcept;

  /// Gives everything back to UCX. Only after the connections are closed: outstanding operations use it until then.
  void end() noexcept;

 private:
  struct Memory {
    core::MutableBytes memory;
    ucp_mem_h handle = nullptr;  // null in a segment of allocated memory: `allocated_` owns it
  };

  const Memory* allocation_at(const std::byte* start) const noexcept;
  Result<std::vector<std::byte>> packed(SegmentId id, core::MutableBytes memory, ucp_mem_h handle);
  bool has_rma(const Peer& peer, core::Bytes packed) const;

  Context& context_;
  const Library& ucp_;
  Peers& peers_;
  std::string put_by_;
  Rank me_;
  core::Log& log_;
  std::vector<Memory> segments_;                  // by id
  std::map<const std::byte*, Memory> allocated_;  // by UCX, for segments; by address
  core::Handles<RemoteKey> remote_;
  std::map<const std::byte*, std::uint64_t> mapped_;  // handles of keys, by the address that `map` returned
};

}  // namespace aqueduct::conduits::ucx
