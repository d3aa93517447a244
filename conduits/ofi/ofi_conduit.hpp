#pragma once

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
#include "conduits/ofi/poll_hints.hpp"
#include "conduits/ofi/receive_buffers.hpp"
#include "conduits/ofi/registrations.hpp"
#include "conduits/ofi/requests.hpp"
#include "conduits/ofi/sleeper.hpp"
#include "core/conduit.hpp"
#include "core/log.hpp"
#include "core/pieces.hpp"
#include "core/to_self.hpp"

#include <array>
#include <chrono>
#include <cstdint>
#include <string_view>
#include <vector>

namespace aqueduct::conduits::ofi {

/// One rank's way to the others over libfabric.
class OfiConduit final : public core::Conduit {
 public:
  OfiConduit(Objects objects, const Provider& provider, const OfiOptions& options, Rank me, core::Log& log);
  ~OfiConduit() override;

  /// Makes the endpoint ready to receive. The log says what was refused.
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
  std::string state_of(Rank peer) const override;

 private:
  Status refused(const char* what, int error) const noexcept;
  void drain() noexcept;

  // What comes back: ofi_poll.cpp.
  int take(const fi_cq_data_entry& entry, core::Inbox& inbox) noexcept;
  int take_packet(const std::byte* bytes, std::size_t length, core::Inbox& inbox) noexcept;
  int take_error(std::int64_t found, core::Inbox& inbox) noexcept;
  Request* oldest_copy() noexcept;
  void refill(void* context) noexcept;
  void give_up(std::string_view what, std::int64_t error) noexcept;
  int ended(Request& request, Status status, core::Inbox& inbox) noexcept;
  int lose(core::Inbox& inbox) noexcept;

  const Provider& provider_;
  core::Log& log_;
  Rank me_;
  core::Properties properties_;
  Requests requests_;  // before the endpoint: until it is closed the provider writes into their memory
  ReceiveBuffers receive_;
  Objects objects_;
  Registrations registrations_;
  LocalBuffers local_;
  core::ToSelf to_self_;
  Peers peers_;
  LostPeers lost_;
  PollHints hints_;
  Operations operations_;
  Messages messages_;
  Rma rma_;
  Vector vector_;
  Atomics atomics_;
  Sleeper sleeper_;
  std::vector<std::byte> aligned_;  // for a packet that the provider puts where no word may start
  bool queue_is_broken_ = false;
};

}  // namespace aqueduct::conduits::ofi
