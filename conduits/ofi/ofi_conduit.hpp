#pragma once

#include "conduits/ofi/completions.hpp"
#include "conduits/ofi/local_buffers.hpp"
#include "conduits/ofi/lost_peers.hpp"
#include "conduits/ofi/messages.hpp"
#include "conduits/ofi/objects.hpp"
#include "conduits/ofi/ofi_atomics.hpp"
#include "conduits/ofi/ofi_options.hpp"
#include "conduits/ofi/ofi_rma.hpp"
#include "conduits/ofi/ofi_vector.hpp"
#include "conduits/ofi/operations.hpp"
#include "conduits/ofi/peers.hpp"
#include "conduits/ofi/pings.hpp"
#include "conduits/ofi/poll_hints.hpp"
#include "conduits/ofi/receive_buffers.hpp"
#include "conduits/ofi/registrations.hpp"
#include "conduits/ofi/requests.hpp"
#include "conduits/ofi/sleeper.hpp"
#include "core/conduit.hpp"
#include "core/log.hpp"
#include "core/to_self.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace aqueduct::conduits::ofi {

/// One rank's endpoint of libfabric. The parts that do the work are members, each with a file of its own; the conduit wires
/// them, and exchanges addresses.
///
/// Threads: the owner's only. A provider may have threads of its own below.
class OfiConduit final : public core::Conduit {
 public:
  OfiConduit(Objects objects, const Provider& provider, const OfiOptions& options, Rank me, core::Log& log,
             core::EndpointClock clock);
  ~OfiConduit() override;

  /// Makes the endpoint ready to receive. The log says what the provider refused.
  Status start();

  const core::Properties& properties() const noexcept override { return properties_; }
  std::vector<std::byte> address() override;
  Status connect(std::span<const std::vector<std::byte>> addresses) override;
  core::Post send(Rank to, core::Bytes header, core::Bytes payload, core::Token) noexcept override {
    return messages_.send(to, header, payload);
  }
  int poll(core::Inbox& inbox) noexcept override;

  core::NativeRma* rma() noexcept override { return &rma_; }
  core::NativeSignal* signal() noexcept override { return &rma_; }
  core::NativeVector* vector() noexcept override { return vector_.most_local() >= 2 ? &vector_ : nullptr; }
  core::NativeAtomics* atomics() noexcept override { return provider_.atomics ? &atomics_ : nullptr; }
  core::Waitable* waitable() noexcept override { return objects_.descriptor >= 0 ? &sleeper_ : nullptr; }
  void forget(Rank peer) noexcept override { lost_.forget(peer); }
  void check_peers(core::Inbox& inbox) noexcept override;
  bool settled() noexcept override {
    lost_.expect_ends();
    return true;
  }
  std::string state_of(Rank peer) const override;
  void memory_ends(core::Bytes memory) noexcept override { local_.invalidate(memory); }

 private:
  // Chosen: other peers may never stop sending, and a lost one has at most some MiB on its way.
  static constexpr unsigned kMostBusyPolls = 256;

  Status refused(const char* what, int error) const noexcept;
  int end_lost(core::Inbox& inbox) noexcept;

  const Provider& provider_;
  core::Log& log_;
  Rank me_;
  core::Properties properties_;
  // Memory that the provider writes into until the endpoint is closed: it must outlive `objects_`.
  Requests requests_;
  ReceiveBuffers receive_;
  Objects objects_;
  // Registrations must end before the domain.
  Registrations registrations_;
  LocalBuffers local_;
  core::ToSelf to_self_;
  Peers peers_;
  LostPeers lost_;
  unsigned busy_polls_ = 0;  // in a row, with a loss that is not reported yet
  PollHints hints_;
  Operations operations_;
  Messages messages_;
  Pings pings_;
  Completions completions_;
  Rma rma_;
  Vector vector_;
  Atomics atomics_;
  Sleeper sleeper_;
};

}  // namespace aqueduct::conduits::ofi
