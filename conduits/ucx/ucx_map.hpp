#pragma once

#include "conduits/ucx/owner_lock.hpp"
#include "conduits/ucx/segments.hpp"
#include "core/conduit.hpp"

namespace aqueduct::conduits::ucx {

/// Segments that neighbours map.
///
/// UCX reaches a neighbour's memory directly only if UCX allocated that memory (decision 29). So in a job of one host
/// UCX allocates the segments, and ranks then write to one another's segments without UCX.
class MappedSegments final : public core::CrossMap {
 public:
  MappedSegments(Segments& segments, const OwnerLock& lock) noexcept : segments_(segments), lock_(lock) {}

  Result<core::MutableBytes> allocate(std::uint32_t, std::size_t bytes) override {
    const OwnerLock::Entry entry(lock_);
    return segments_.allocate(bytes);
  }
  void release(core::MutableBytes memory) noexcept override {
    const OwnerLock::Entry entry(lock_);
    segments_.release(memory);
  }
  std::vector<std::byte> export_map(SegmentId id, core::MutableBytes memory, bool allocated) override {
    if (!allocated || memory.empty()) return {};
    const OwnerLock::Entry entry(lock_);
    return segments_.key_of_allocated(id, memory);
  }
  Result<std::byte*> map(Rank peer, core::Bytes key, std::size_t) override {
    const OwnerLock::Entry entry(lock_);
    return segments_.map(peer, key);
  }
  void unmap(Rank, std::byte* at) noexcept override {
    const OwnerLock::Entry entry(lock_);
    segments_.unmap(at);
  }
  void wake(Rank) noexcept override {}  // nobody sleeps: see UcxConduit::waitable

 private:
  Segments& segments_;
  const OwnerLock& lock_;
};

}  // namespace aqueduct::conduits::ucx
