#pragma once

#include "conduits/ofi/local_buffers.hpp"
#include "conduits/ofi/objects.hpp"
#include "conduits/ofi/operations.hpp"
#include "conduits/ofi/registrations.hpp"
#include "core/conduit.hpp"
#include "core/pieces.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace aqueduct::conduits::ofi {

/// Puts and gets of lists of pieces, each one operation of libfabric's.
class Vector final : public core::NativeVector {
 public:
  Vector(const Objects& objects, Operations& operations, const Peers& peers,
         const Registrations& registrations, LocalBuffers& local, const Provider& provider,
         std::size_t slot_bytes, std::size_t max_transfer, Rank me)
      : ep_(objects.ep.get()),
        operations_(operations),
        peers_(peers),
        registrations_(registrations),
        local_(local),
        provider_(provider),
        delivered_(provider.delivered()),
        slot_bytes_(slot_bytes),
        max_transfer_(max_transfer),
        me_(me) {}

  std::size_t most_local() const noexcept override;
  std::size_t most_remote() const noexcept override;
  core::Post put_pieces(Rank peer, std::uint64_t key, std::span<const core::RemotePiece> to,
                        std::span<const core::Bytes> from, core::Token token) noexcept override;
  core::Post get_pieces(Rank peer, std::uint64_t key, std::span<const core::RemotePiece> from,
                        std::span<const core::MutableBytes> to, core::Token token) noexcept override;

 private:
  core::PieceLimits limits() const noexcept { return {most_remote(), most_local(), max_transfer_}; }
  template <class Local, class Copy>
  core::Post copy_own(std::uint64_t key, std::span<const core::RemotePiece> remote,
                      std::span<const Local> local, const Copy& copy) noexcept;
  template <class Local>
  core::Post post(Request& request, std::uint64_t key, std::span<const core::RemotePiece> remote,
                  std::span<const Local> local) noexcept;

  fid_ep* ep_;
  Operations& operations_;
  const Peers& peers_;
  const Registrations& registrations_;
  LocalBuffers& local_;
  const Provider& provider_;
  std::uint64_t delivered_;  ///< asks for completions that mean arrival
  std::size_t slot_bytes_;
  std::size_t max_transfer_;
  Rank me_;
};

}  // namespace aqueduct::conduits::ofi
