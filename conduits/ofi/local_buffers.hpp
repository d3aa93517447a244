#pragma once

#include "conduits/ofi/local_cache.hpp"
#include "conduits/ofi/registrations.hpp"
#include "conduits/ofi/requests.hpp"

#include <cstdint>
#include <utility>
#include <vector>

namespace aqueduct::conduits::ofi {

/// Registers local memory for providers that need it. The endpoint's own memory stays registered as long as the
/// endpoint exists, a caller's buffer while a transfer uses it.
class LocalBuffers {
 public:
  /// Lifetime: ends before the domain.
  LocalBuffers(Registrations& registrations, bool register_local, std::size_t keep)
      : registrations_(registrations),
        needed_(registrations.local_needed() || register_local),
        cache_(registrations, keep) {}

  /// Whether local buffers need a descriptor at all.
  bool needed() const noexcept { return needed_; }

  /// Registers the endpoint's own memory. Returns 0, the provider's error, or -FI_ENOMEM.
  int add(core::MutableBytes memory, void*& descriptor) noexcept;

  /// Finds or makes the descriptor of a caller's buffer, which stays valid until `give_back`. False if it cannot:
  /// `answer` is -FI_EAGAIN if a later call may succeed, otherwise the provider's error.
  bool lend(Request& request, core::Bytes buffer, core::LocalUse use, void*& descriptor,
            std::int64_t& answer) noexcept;
  void give_back(Request& request) noexcept {
    for (Registration*& borrowed : request.borrowed) {
      if (borrowed == nullptr) return;
      cache_.give_back(*std::exchange(borrowed, nullptr));
    }
  }
  /// Ends the registrations of memory that is about to be unmapped or freed.
  void invalidate(core::Bytes memory) noexcept { cache_.invalidate(memory); }

 private:
  Registrations& registrations_;
  bool needed_;
  LocalCache cache_;
  std::vector<Fid<fid_mr>> own_;
};

}  // namespace aqueduct::conduits::ofi
