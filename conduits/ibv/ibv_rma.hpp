#pragma once

#include "conduits/ibv/ibv_vector.hpp"
#include "conduits/ibv/striping.hpp"
#include "core/to_self.hpp"

namespace aqueduct::conduits::ibv {

/// Puts, gets and puts with a signal, by RDMA.
class Rma final : public core::NativeRma, public core::NativeSignal {
 public:
  Rma(const Environment& env, const Losses& losses, Memory& memory, LocalBuffers& buffers, Requests& requests,
      RemoteAccess& access, Connections& connections, BouncedTransfers& bounces, Rails& rails,
      Striping& striping, Vector& vector, core::ToSelf& to_self)
      : me_(env.me),
        sizes_(env.sizes()),
        memory_(memory),
        requests_(requests),
        connections_(connections),
        by_peer_(connections.all()),
        access_(access),
        losses_(losses),
        buffers_(buffers),
        bounced_(bounces),
        rails_(rails),
        striping_(striping),
        vector_(vector),
        to_self_(to_self) {}

  Result<std::vector<std::byte>> register_segment(SegmentId id, core::MutableBytes memory) override;
  void unregister_segment(SegmentId id) noexcept override;
  Result<std::uint64_t> import_key(Rank peer, core::Bytes key) override;
  void forget_key(Rank, std::uint64_t key) noexcept override { memory_.forget(key); }
  core::Post put(Rank peer, std::uint64_t key, std::uint64_t offset, core::Bytes from, bool inject,
                 core::Token token) noexcept override;
  core::Post get(Rank peer, std::uint64_t key, std::uint64_t offset, core::MutableBytes to,
                 core::Token token) noexcept override;
  core::Post put_signal(Rank peer, std::uint64_t key, std::uint64_t offset, core::Bytes from, Signal signal,
                        core::Token token) noexcept override;

 private:
  /// As Connections::reach, but with the table at hand, which saves each put a load.
  Connection* reach(Rank peer) noexcept {
    Connection* const connection = peer < by_peer_.size() ? by_peer_[peer].get() : nullptr;
    return connection != nullptr && connection->ready ? connection : connections_.reach(peer);
  }
  core::Post put_long(Rank peer, std::uint64_t key, std::uint64_t offset, core::Bytes from, bool inject,
                      core::Token token) noexcept;
  core::Post put_to_self(const Key& key, std::uint64_t offset, core::Bytes from) noexcept;

  Rank me_;
  const Sizes& sizes_;
  Memory& memory_;
  Requests& requests_;
  Connections& connections_;
  std::span<const std::unique_ptr<Connection>> by_peer_;  // of all connections; the table never moves
  RemoteAccess& access_;
  const Losses& losses_;
  LocalBuffers& buffers_;
  BouncedTransfers& bounced_;
  Rails& rails_;
  Striping& striping_;
  Vector& vector_;
  core::ToSelf& to_self_;
};

}  // namespace aqueduct::conduits::ibv
