#pragma once

#include "conduits/ibv/paging.hpp"
#include "conduits/ibv/verbs.hpp"
#include "conduits/ibv/wire.hpp"
#include "core/address_index.hpp"
#include "core/conduit.hpp"
#include "core/handles.hpp"
#include "core/local_registrations.hpp"
#include "core/log.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace aqueduct::conduits::ibv {

/// Registered segments of this endpoint, and the imported keys of peers' segments.
class Memory {
 public:
  /// `access`, `local_access`: rights for segments, and for memory that only this endpoint uses. `most`: bytes that can
  /// be registered at once. `paging`: the on-demand paging that may be used.
  Memory(const Verbs& verbs, ibv_pd& domain, std::uint64_t job, int access, int local_access,
         std::uint64_t most, const Paging& paging, bool large_pages, Rank me, core::Log& log)
      : verbs_(verbs),
        domain_(domain),
        job_(job),
        access_(access),
        local_access_(local_access),
        most_(most),
        paging_(paging),
        large_pages_(large_pages),
        me_(me),
        log_(log) {}

  Result<std::vector<std::byte>> add_segment(SegmentId id, core::MutableBytes memory);
  void remove_segment(SegmentId id) noexcept;
  /// Errors: not_supported (no key of this conduit, or of another job).
  Result<std::uint64_t> import(Rank peer, core::Bytes key);
  void forget(std::uint64_t handle) noexcept { remote_.remove(handle); }
  const Key& remote(std::uint64_t handle) const noexcept { return remote_[handle]; }

  /// The memory of my segment; empty if there is no such segment.
  core::MutableBytes segment(SegmentId id) const noexcept {
    return id < segments_.size() ? segments_[id].memory : core::MutableBytes{};
  }
  /// Registers memory that only this endpoint uses. Null, and a negative errno, if the device refuses; -ENOMEM: it
  /// cannot be pinned.
  Owned<ibv_mr> add_local(core::MutableBytes memory, core::LocalUse use, int& error) noexcept;
  /// The local key of the segment that contains the buffer; nothing if none does.
  std::optional<std::uint32_t> key_in_segment(core::Bytes buffer) const noexcept;

 private:
  Owned<ibv_mr> add(core::MutableBytes memory, int access) noexcept;
  Owned<ibv_mr> add_on_demand(core::MutableBytes memory, int access) noexcept;

  struct Segment {
    Owned<ibv_mr> region;
    core::MutableBytes memory;
  };

  const Verbs& verbs_;
  ibv_pd& domain_;
  std::uint64_t job_;
  int access_;
  int local_access_;
  std::uint64_t most_;  // bytes that can be registered at once
  Paging paging_;
  bool large_pages_;
  bool pages_on_demand_ = false;  // whether any memory is registered for it
  Rank me_;
  core::Log& log_;
  std::vector<Segment> segments_;  // by id
  core::AddressIndex by_address_;
  core::Handles<Key> remote_;
};

}  // namespace aqueduct::conduits::ibv
