#pragma once

#include "conduits/ibv/bounced_transfers.hpp"
#include "conduits/ibv/connections.hpp"
#include "conduits/ibv/remote_access.hpp"
#include "core/pieces.hpp"

namespace aqueduct::conduits::ibv {

/// Lists of pieces in one operation: a work request for each piece of the peer's memory, each with a list of local
/// pieces, all posted together.
class Vector final : public core::NativeVector {
 public:
  /// `properties`: of the conduit; max_transfer is read.
  Vector(const Environment& env, const core::Properties& properties, const Losses& losses,
         const Memory& memory, LocalBuffers& buffers, Requests& requests, RemoteAccess& access,
         Connections& connections, BouncedTransfers& bounces)
      : env_(env),
        properties_(properties),
        losses_(losses),
        memory_(memory),
        buffers_(buffers),
        requests_(requests),
        access_(access),
        connections_(connections),
        bounced_(bounces) {}

  /// Whether the queues have room for lists.
  bool can() const noexcept;

  std::size_t most_local() const noexcept override;
  std::size_t most_remote() const noexcept override;
  core::Post put_pieces(Rank peer, std::uint64_t key, std::span<const core::RemotePiece> to,
                        std::span<const core::Bytes> from, core::Token token) noexcept override;
  core::Post get_pieces(Rank peer, std::uint64_t key, std::span<const core::RemotePiece> from,
                        std::span<const core::MutableBytes> to, core::Token token) noexcept override;

 private:
  struct Pieces;
  template <class Local>
  core::Post transfer_pieces(Rank peer, std::uint64_t key, std::span<const core::RemotePiece> remote,
                             std::span<const Local> local, ibv_wr_opcode opcode, core::Token token) noexcept;
  Lent add_piece(Connection& connection, Pieces& pieces, std::uint64_t key, std::uint64_t offset,
                 core::Bytes part, void* result, bool goes_on, ibv_wr_opcode opcode) noexcept;

  const Environment& env_;
  const core::Properties& properties_;
  const Losses& losses_;
  const Memory& memory_;
  LocalBuffers& buffers_;
  Requests& requests_;
  RemoteAccess& access_;
  Connections& connections_;
  BouncedTransfers& bounced_;
};

}  // namespace aqueduct::conduits::ibv
