#pragma once

#include "conduits/ibv/ibv_atomics.hpp"
#include "conduits/ibv/ibv_rma.hpp"
#include "conduits/ibv/ibv_vector.hpp"
#include "conduits/ibv/sleeper.hpp"
#include "core/conduit.hpp"
#include "core/log.hpp"
#include "core/to_self.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace aqueduct::conduits::ibv {

/// One rank's conduit over RDMA verbs, with a reliable-connected (RC) queue pair for each peer that it talks to. It
/// holds the parts, wires them, and runs them in order in each poll; each part's header says what it does.
class IbvConduit final : public core::Conduit {
 public:
  /// `verbs` and `port` must outlive the conduit.
  IbvConduit(const Verbs& verbs, const Port& port, Objects objects, const IbvOptions& options,
             std::uint64_t job, Rank ranks, Rank me, core::Log& log, core::EndpointClock clock);
  ~IbvConduit() override;

  /// Registers buffers and starts to accept connections. The log says what was refused. `rails`: further ports, for
  /// large transfers; they must outlive the conduit.
  Status start(std::span<const Port> rails = {});

  const core::Properties& properties() const noexcept override { return properties_; }
  std::vector<std::byte> address() override;
  Status connect(std::span<const std::vector<std::byte>> addresses) override;
  core::Post send(Rank to, core::Bytes header, core::Bytes payload, core::Token token) noexcept override;
  int poll(core::Inbox& inbox) noexcept override;

  core::NativeRma* rma() noexcept override { return &rma_; }
  core::NativeSignal* signal() noexcept override { return &rma_; }
  core::NativeVector* vector() noexcept override { return vector_.can() ? &vector_ : nullptr; }
  core::NativeAtomics* atomics() noexcept override { return env_.sizes().atomics ? &atomics_ : nullptr; }
  core::Waitable* waitable() noexcept override { return &sleeper_; }
  void check_peers(core::Inbox& inbox) noexcept override;
  void forget(Rank peer) noexcept override { losses_.forget(peer); }
  bool settled() noexcept override;
  std::string state_of(Rank peer) const override;
  void memory_ends(core::Bytes memory) noexcept override;

 private:
  void drain() noexcept;
  int end_peer(Rank peer, core::Inbox& inbox) noexcept;
  /// Whether a device that accepts connections may have overlooked what waits in this one, and the pause is over.
  bool may_be_overlooked(const Connection& connection) const noexcept;
  void note_probe(Connection& connection) noexcept;

  Environment env_;
  Losses losses_;
  core::Properties properties_;
  Memory memory_;
  LocalBuffers buffers_;
  CreditCounters counters_;
  Requests requests_;
  ReceiveBuffers receive_;
  Credits credits_;
  Messages messages_;
  RemoteAccess access_;
  Rails rails_;
  Connections connections_;
  BouncedTransfers bounced_;
  Striping striping_;
  core::ToSelf to_self_;
  Vector vector_;
  Rma rma_;
  Atomics atomics_;
  DeviceEvents events_;
  Completions completions_;
  Sleeper sleeper_;
  Rank probed_ = 0;  // the next peer to probe
};

}  // namespace aqueduct::conduits::ibv
