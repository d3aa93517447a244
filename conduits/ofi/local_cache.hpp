#pragma once

#include "conduits/ofi/registrations.hpp"

#include <cstdint>
#include <memory>
#include <span>

namespace aqueduct::conduits::ofi {

/// A registered range of local memory outside any segment.
class Registration {
 public:
  void* descriptor() const noexcept { return ::fi_mr_desc(region_.get()); }

 private:
  friend class LocalCache;

  bool covers(core::Bytes buffer) const noexcept {
    return region_ != nullptr && buffer.data() >= memory_.data() &&
           buffer.data() + buffer.size() <= memory_.data() + memory_.size();
  }

  Fid<fid_mr> region_;
  core::MutableBytes memory_;
  std::uint32_t users_ = 0;
  std::uint64_t last_use_ = 0;
};

/// Registers local buffers for providers that need it, while a transfer uses them; operations that overlap share one.
///
/// Nothing tells this library that a program gives memory back, so what nobody uses any more is kept only up to
/// `keep` bytes, none by default: see docs/decisions/0021-local-registrations.md.
class LocalCache {
 public:
  static constexpr std::size_t kEntries = 64;

  LocalCache(Registrations& registrations, std::size_t keep);

  /// Null, and why: nothing is free, or no more can be pinned until others give back what they use (FI_EAGAIN); or the
  /// provider refuses.
  Registration* borrow(core::Bytes buffer, int& error) noexcept;
  void give_back(Registration& registration) noexcept;
  /// Memory that is about to end: nothing of it is kept.
  void invalidate(core::Bytes memory) noexcept;

 private:
  void close(Registration& entry) noexcept;
  Registration* oldest_idle() noexcept;
  bool any_used() const noexcept;

  Registrations& registrations_;
  std::size_t keep_;
  std::size_t kept_ = 0;  // bytes that nobody uses
  std::uint64_t clock_ = 0;
  std::unique_ptr<Registration[]> entries_;
};

}  // namespace aqueduct::conduits::ofi
