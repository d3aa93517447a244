#pragma once

#include "conduits/ofi/provider.hpp"
#include "core/conduit.hpp"
#include "core/handles.hpp"
#include "core/log.hpp"

#include <cstdint>
#include <vector>

namespace aqueduct::conduits::ofi {

/// Where in a peer's segment something lies, in the provider's words.
struct RemoteKey {
  std::uint64_t key = 0;
  std::uint64_t base =
      0;  ///< the peer's address of the segment, or 0 where the provider counts from its start
  SegmentId id = 0;
};

/// An endpoint's memory and its peers', as the provider knows them: registrations, and keys that travel as bytes.
///
/// Covers every mode of libfabric: keys chosen here or by the provider, offsets or addresses, keys longer than a
/// word, memory that is bound to the endpoint.
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

  /// My own; empty if there is no such.
  core::MutableBytes segment(SegmentId id) const noexcept {
    return id < segments_.size() ? segments_[id].memory : core::MutableBytes{};
  }

  /// Memory of this endpoint's that only it touches. Null, and a negative error, if the provider refuses.
  Fid<fid_mr> add_local(core::MutableBytes memory, int& error) noexcept;
  /// Whether local buffers need a descriptor at all.
  bool local_needed() const noexcept { return local_needed_; }
  /// Of a buffer inside a segment of mine; null if it is in none.
  void* descriptor_in_segment(core::Bytes buffer) const noexcept;

 private:
  struct Segment {
    Fid<fid_mr> region;
    core::MutableBytes memory;
  };

  int add(core::MutableBytes memory, std::uint64_t access, Fid<fid_mr>& region) noexcept;
  std::uint64_t base_of(core::MutableBytes memory) const noexcept;

  fid_domain& domain_;
  fid_ep& ep_;
  Library library_;
  int mode_;
  Rank me_;
  core::Log& log_;
  bool local_needed_;
  std::uint64_t next_key_ = 1;     // where keys are chosen here
  std::vector<Segment> segments_;  // by id
  core::Handles<RemoteKey> remote_;
  std::vector<std::uint64_t> mapped_keys_;  // what the provider made of raw ones
};

}  // namespace aqueduct::conduits::ofi
