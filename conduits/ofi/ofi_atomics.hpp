#pragma once

#include "conduits/ofi/objects.hpp"
#include "conduits/ofi/operations.hpp"
#include "conduits/ofi/registrations.hpp"
#include "core/conduit.hpp"

namespace aqueduct::conduits::ofi {

/// Atomics by the provider. All of them are fetching ones: the answer proves that the operation has been done.
class Atomics final : public core::NativeAtomics {
 public:
  Atomics(const Objects& objects, Operations& operations, const Peers& peers,
          const Registrations& registrations)
      : domain_(objects.domain.get()),
        ep_(objects.ep.get()),
        requests_(operations),
        peers_(peers),
        registrations_(registrations) {}

  /// Asks the provider which of the library's atomics it has, once the endpoint is enabled.
  void learn() noexcept;

  core::AtomicSet operations() const noexcept override { return operations_; }
  core::Post atomic(Rank peer, std::uint64_t key, std::uint64_t offset, const detail::AtomicCall& call,
                    core::Token token) noexcept override;

 private:
  fid_domain* domain_;
  fid_ep* ep_;
  Operations& requests_;
  const Peers& peers_;
  const Registrations& registrations_;
  core::AtomicSet operations_;
};

}  // namespace aqueduct::conduits::ofi
