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
#include "conduits/ucx/put_messages.hpp"
#include "conduits/ucx/segments.hpp"
#include "conduits/ucx/sleeper.hpp"
#include "conduits/ucx/ucx_map.hpp"
#include "conduits/ucx/ucx_rma.hpp"
#include "conduits/ucx/ucx_vector.hpp"
#include "conduits/ucx/worker.hpp"
#include "core/conduit.hpp"
#include "core/network.hpp"
#include "core/progress_thread.hpp"

#include <chrono>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace aqueduct::conduits::ucx {

/// One rank's endpoint of UCX: a UCP worker, and a UCP endpoint for each peer that it talks to. The parts that do the
/// work are members, each with a file of its own; the conduit wires them, and exchanges addresses.
///
/// Threads: the owner's, and a progress thread that works in its place while the owner computes. A lock lets in one at
///          a time.
class UcxConduit final : public core::Conduit {
 public:
  UcxConduit(Context& context, const core::Process& process, Rank me);
  ~UcxConduit() override;
  /// Opens the worker. Called before anything else.
  Status open();

  const core::Properties& properties() const noexcept override { return properties_; }
  std::vector<std::byte> address() override;
  Status connect(std::span<const std::vector<std::byte>> addresses) override;
  core::Post send(Rank to, core::Bytes header, core::Bytes payload, core::Token token) noexcept override;
  int poll(core::Inbox& inbox) noexcept override;

  core::NativeRma* rma() noexcept override { return &rma_; }
  core::NativeSignal* signal() noexcept override { return &rma_; }
  core::NativeVector* vector() noexcept override { return &vector_; }
  core::CrossMap* cross_map() noexcept override { return maps_ ? &map_ : nullptr; }
  /// Null where neighbours write to this rank's memory, because that would not wake it: a wait takes short naps
  /// instead.
  core::Waitable* waitable() noexcept override { return maps_ ? nullptr : &sleeper_; }
  std::string state_of(Rank peer) const override;
  void forget(Rank peer) noexcept override;
  bool settled() noexcept override;
  void serve_aside(core::Aside aside) noexcept override;

  const Counts& counts() const noexcept { return counts_; }

 private:
  using Entry = OwnerLock::Entry;

  // The progress thread (ucx_progress.cpp).
  Status start_thread();
  std::chrono::nanoseconds stand_in(const core::ProgressThread& thread) noexcept;

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
  Peers peers_;
  PacketPool packets_;
  Operations operations_;
  LostPeers lost_;
  Segments segments_;
  bool maps_;  ///< all ranks share a host, and UCX allocates memory that they can map
  MappedSegments map_;
  Messages messages_;
  Flushes flushes_;
  PutMessages put_messages_;
  Rma rma_;
  Vector vector_;
  Sleeper sleeper_;
  std::optional<core::ProgressThread> thread_;
};

}  // namespace aqueduct::conduits::ucx
