#pragma once

#include "conduits/ucx/context.hpp"
#include "conduits/ucx/counts.hpp"
#include "conduits/ucx/delivery.hpp"
#include "conduits/ucx/flushes.hpp"
#include "conduits/ucx/lost_peers.hpp"
#include "conduits/ucx/message_filter.hpp"
#include "conduits/ucx/messages.hpp"
#include "conduits/ucx/operations.hpp"
#include "conduits/ucx/owner_lock.hpp"
#include "conduits/ucx/packet_pool.hpp"
#include "conduits/ucx/peers.hpp"
#include "conduits/ucx/pending.hpp"
#include "conduits/ucx/put_messages.hpp"
#include "conduits/ucx/segments.hpp"
#include "conduits/ucx/ucx_map.hpp"
#include "conduits/ucx/wire.hpp"
#include "conduits/ucx/worker.hpp"
#include "core/conduit.hpp"
#include "core/network.hpp"
#include "core/pieces.hpp"
#include "core/progress_thread.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace aqueduct::conduits::ucx {

/// One rank's way to the others through UCX: a UCP worker, and an endpoint for each peer that it talks to.
///
/// Threads: the owner's, and a progress thread that does its work while it is away; one lock lets in one at a time.
class UcxConduit final : public core::Conduit,
                         public core::NativeRma,
                         public core::NativeSignal,
                         public core::NativeVector,
                         public core::Waitable {
 public:
  UcxConduit(Context& context, const core::Process& process, Rank me);
  ~UcxConduit() override;
  /// Makes the worker; before anything else.
  Status open();

  const core::Properties& properties() const noexcept override { return properties_; }
  std::vector<std::byte> address() override;
  Status connect(std::span<const std::vector<std::byte>> addresses) override;
  core::Post send(Rank to, core::Bytes header, core::Bytes payload, core::Token token) noexcept override;
  int poll(core::Inbox& inbox) noexcept override;

  core::NativeRma* rma() noexcept override { return this; }
  core::NativeSignal* signal() noexcept override { return this; }
  core::NativeVector* vector() noexcept override { return this; }
  core::CrossMap* cross_map() noexcept override { return maps_ ? &map_ : nullptr; }
  /// None where neighbours write to this rank's memory: nobody would wake it. A wait naps.
  core::Waitable* waitable() noexcept override { return maps_ ? nullptr : this; }
  std::string state_of(Rank peer) const override;
  void forget(Rank peer) noexcept override;
  void serve_aside(core::Aside aside) noexcept override;

  const Counts& counts() const noexcept { return counts_; }

  // NativeRma (ucx_segments.cpp, ucx_rma.cpp)
  Result<std::vector<std::byte>> register_segment(SegmentId id, core::MutableBytes memory) override;
  void unregister_segment(SegmentId id) noexcept override;
  Result<std::uint64_t> import_key(Rank peer, core::Bytes key) override;
  core::Post put(Rank peer, std::uint64_t key, std::uint64_t offset, core::Bytes from, bool inject,
                 core::Token token) noexcept override;
  core::Post get(Rank peer, std::uint64_t key, std::uint64_t offset, core::MutableBytes to,
                 core::Token token) noexcept override;

  // NativeSignal (ucx_put.cpp)
  core::Post put_signal(Rank peer, std::uint64_t key, std::uint64_t offset, core::Bytes from, Signal signal,
                        core::Token token) noexcept override;

  // NativeVector (ucx_vector.cpp): lists of this rank's memory only
  std::size_t most_local() const noexcept override { return kMostPieces; }
  std::size_t most_remote() const noexcept override { return 1; }
  core::Post put_pieces(Rank peer, std::uint64_t key, std::span<const core::RemotePiece> to,
                        std::span<const core::Bytes> from, core::Token token) noexcept override;
  core::Post get_pieces(Rank peer, std::uint64_t key, std::span<const core::RemotePiece> from,
                        std::span<const core::MutableBytes> to, core::Token token) noexcept override;

  // Waitable (ucx_wait.cpp)
  void arm() noexcept override;
  void disarm() noexcept override;
  void sleep(std::chrono::nanoseconds limit) noexcept override;
  std::chrono::nanoseconds within() const noexcept override;
  int descriptor() const noexcept override { return worker_.descriptor(); }

 private:
  using Entry = OwnerLock::Entry;

  /// The pieces of one call lie where an injected put's bytes would.
  static constexpr std::size_t kMostPieces = kMostInject / sizeof(ucp_dt_iov_t);
  core::PieceLimits piece_limits() const noexcept { return {1, kMostPieces, properties_.max_transfer}; }

  // The progress thread (ucx_wait.cpp).
  Status start_thread();
  std::chrono::nanoseconds stand_in(const core::ProgressThread& thread) noexcept;

  core::Post put_pieces_by_network(Peer& peer, Pending& pending, const RemoteKey& place, std::uint64_t offset,
                                   std::span<const core::Bytes> from) noexcept;

  Context& context_;
  const Library& ucp_;
  core::Process process_;
  core::Log& log_;
  core::Properties properties_;
  Rank me_;
  OwnerLock lock_;
  Counts counts_;
  MessageFilter filter_;
  Delivery delivery_;
  Worker worker_;
  bool ready_ = false;  ///< UCX would not be armed: it has work
  Peers peers_;
  PacketPool packets_;
  Operations operations_;
  LostPeers lost_;
  Segments segments_;
  Map map_;
  Messages messages_;
  Flushes flushes_;
  PutMessages put_messages_;
  bool maps_;                    ///< the ranks share a host, and UCX gives memory that all of them can map
  std::optional<core::ProgressThread> thread_;
};

}  // namespace aqueduct::conduits::ucx
