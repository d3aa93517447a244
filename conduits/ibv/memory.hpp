#pragma once

#include "conduits/ibv/paging.hpp"
#include "conduits/ibv/verbs.hpp"
#include "conduits/ibv/wire.hpp"
#include "core/conduit.hpp"
#include "core/handles.hpp"
#include "core/log.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace aqueduct::conduits::ibv {

/// An endpoint's segments and its peers', as the device knows them.
class Memory {
 public:
  /// `paging`: what may be used of it.
  /// `access`: what peers may do with segments; `local_access`: what of memory that is only used here.
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

  /// My own; empty if there is no such.
  core::MutableBytes segment(SegmentId id) const noexcept {
    return id < segments_.size() ? segments_[id].memory : core::MutableBytes{};
  }
  /// Memory of this endpoint's that only it uses. Null, and a negative errno, if the device refuses; -ENOMEM: to pin it.
  Owned<ibv_mr> add_local(core::MutableBytes memory, int& error) noexcept;
  /// What the device calls a buffer inside a segment of mine; nothing if it is in none.
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
  bool pages_on_demand_ = false;  // some memory is registered so
  Rank me_;
  core::Log& log_;
  std::vector<Segment> segments_;  // by id
  core::Handles<Key> remote_;
};

}  // namespace aqueduct::conduits::ibv
