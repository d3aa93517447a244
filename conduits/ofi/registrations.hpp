#pragma once

#include "conduits/ofi/provider.hpp"
#include "core/address_index.hpp"
#include "core/conduit.hpp"
#include "core/handles.hpp"
#include "core/local_registrations.hpp"
#include "core/log.hpp"

#include <cstdint>
#include <vector>

namespace aqueduct::conduits::ofi {

/// A peer's segment, as libfabric addresses it.
struct RemoteKey {
  std::uint64_t key = 0;
  std::uint64_t base =
      0;  ///< the peer's address of the segment, or 0 where the provider counts from its start
  SegmentId id = 0;
};

/// The registrations of this rank's memory, and the keys of peers' segments.
///
/// Handles every registration mode of libfabric: keys chosen here or by the provider (FI_MR_PROV_KEY), offsets or addresses
/// (FI_MR_VIRT_ADDR), keys longer than a word (FI_MR_RAW), memory that is bound to the endpoint (FI_MR_ENDPOINT).
class Registrations {
 public:
  /// Lifetime: ends before the domain.
  Registrations(fid_domain& domain, fid_ep& ep, const Provider& provider, Rank me, core::Log& log);
  ~Registrations();
  Registrations(const Registrations&) = delete;
  Registrations& operator=(const Registrations&) = delete;

  Result<std::vector<std::byte>> add_segment(SegmentId id, core::MutableBytes memory);
  void remove_segment(SegmentId id) noexcept;
  /// Errors: not_supported (another provider's key), network_failed.
  Result<std::uint64_t> import(Rank peer, core::Bytes key);
  void forget(std::uint64_t handle) noexcept;
  const RemoteKey& remote(std::uint64_t handle) const noexcept { return remote_[handle]; }

  /// This rank's part of a segment; empty if it has no part.
  core::MutableBytes segment(SegmentId id) const noexcept {
    return id < segments_.size() ? segments_[id].memory : core::MutableBytes{};
  }

  /// Registers memory for local use. Null, and a negative error, if the provider refuses.
  Fid<fid_mr> add_local(core::MutableBytes memory, core::LocalUse use, int& error) noexcept;
  /// Whether local buffers need a descriptor at all.
  bool local_needed() const noexcept { return local_needed_; }
  /// The descriptor of a buffer inside a segment of this rank; null if it is in none.
  void* descriptor_in_segment(core::Bytes buffer) const noexcept;

 private:
  struct Segment {
    Fid<fid_mr> region;
    core::MutableBytes memory;
  };

  int add(core::MutableBytes memory, std::uint64_t access, Fid<fid_mr>& region) noexcept;
  std::uint64_t next_key() noexcept;
  std::uint64_t base_of(core::MutableBytes memory) const noexcept;

  fid_domain& domain_;
  fid_ep& ep_;
  Library library_;
  int mode_;
  std::uint64_t most_key_;
  Rank me_;
  core::Log& log_;
  bool local_needed_;
  std::uint64_t last_key_ = 0;     // where this conduit chooses keys
  std::vector<Segment> segments_;  // by id
  core::AddressIndex by_address_;
  core::Handles<RemoteKey> remote_;
  std::vector<std::uint64_t> mapped_keys_;  // from raw keys; to be unmapped
};

}  // namespace aqueduct::conduits::ofi
