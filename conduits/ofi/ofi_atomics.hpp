#pragma once

#include "conduits/ofi/objects.hpp"
#include "conduits/ofi/operations.hpp"
#include "conduits/ofi/registrations.hpp"
#include "core/conduit.hpp"

#include <array>
#include <cstddef>

namespace aqueduct::conduits::ofi {

/// Atomics by the provider. All of them are fetching ones: the answer proves that the operation has been done.
class Atomics final : public core::NativeAtomics {
 public:
  Atomics(const Objects& objects, Operations& operations, const Peers& peers,
          const Registrations& registrations)
      : domain_(objects.domain.get()),
        ep_(objects.ep.get()),
        operations_(operations),
        peers_(peers),
        registrations_(registrations) {}

  /// Asks the provider which of the library's atomics it has, once the endpoint is enabled.
  void learn() noexcept;

  bool can(AtomicOp op, AtomicType type) const noexcept override;
  core::Post atomic(Rank peer, std::uint64_t key, std::uint64_t offset, const detail::AtomicCall& call,
                    core::Token token) noexcept override;

 private:
  static constexpr std::size_t kTypes = 6;
  static constexpr std::size_t kOps = 10;

  fid_domain* domain_;
  fid_ep* ep_;
  Operations& operations_;
  const Peers& peers_;
  const Registrations& registrations_;
  std::array<std::array<bool, kOps>, kTypes> can_{};  // [type][operation]
};

}  // namespace aqueduct::conduits::ofi
