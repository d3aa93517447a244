#pragma once

#include "conduits/ucx/flushes.hpp"
#include "conduits/ucx/operations.hpp"
#include "conduits/ucx/owner_lock.hpp"
#include "conduits/ucx/peers.hpp"
#include "conduits/ucx/put_messages.hpp"
#include "conduits/ucx/segments.hpp"
#include "core/conduit.hpp"
#include "core/pieces.hpp"

#include <cstddef>
#include <span>

namespace aqueduct::conduits::ucx {

/// Puts and gets of lists of this rank's memory, to or from one place of a peer's.
///
/// UCX 1.13 puts and gets contiguous memory only (it answers an IOV datatype with "unsupported"), and sends messages from
/// lists. So a put by message gathers its pieces as it leaves; otherwise each piece is a call of UCX's, and all end as one.
class Vector final : public core::NativeVector {
 public:
  Vector(const Library& ucp, Peers& peers, Operations& operations, const Segments& segments, Flushes& flushes,
         PutMessages& put_messages, const OwnerLock& lock, Counts& counts, std::size_t max_transfer, Rank me)
      : ucp_(ucp),
        peers_(peers),
        operations_(operations),
        segments_(segments),
        flushes_(flushes),
        put_messages_(put_messages),
        lock_(lock),
        counts_(counts),
        max_transfer_(max_transfer),
        me_(me) {}

  std::size_t most_local() const noexcept override { return kMostPieces; }
  std::size_t most_remote() const noexcept override { return 1; }
  core::Post put_pieces(Rank peer, std::uint64_t key, std::span<const core::RemotePiece> to,
                        std::span<const core::Bytes> from, core::Token token) noexcept override;
  core::Post get_pieces(Rank peer, std::uint64_t key, std::span<const core::RemotePiece> from,
                        std::span<const core::MutableBytes> to, core::Token token) noexcept override;

 private:
  using Entry = OwnerLock::Entry;
  core::PieceLimits limits() const noexcept { return {1, kMostPieces, max_transfer_}; }
  core::Post put_by_network(Peer& peer, Operation& operation, const RemoteKey& place, std::uint64_t offset,
                            std::span<const core::Bytes> from) noexcept;

  const Library& ucp_;
  Peers& peers_;
  Operations& operations_;
  const Segments& segments_;
  Flushes& flushes_;
  PutMessages& put_messages_;
  const OwnerLock& lock_;
  Counts& counts_;
  std::size_t max_transfer_;
  Rank me_;
};

}  // namespace aqueduct::conduits::ucx
