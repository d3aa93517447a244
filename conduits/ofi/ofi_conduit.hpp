#pragma once

#include "conduits/ofi/local_buffers.hpp"
#include "conduits/ofi/lost_peers.hpp"
#include "conduits/ofi/messages.hpp"
#include "conduits/ofi/objects.hpp"
#include "conduits/ofi/ofi_options.hpp"
#include "conduits/ofi/operations.hpp"
#include "conduits/ofi/peers.hpp"
#include "conduits/ofi/poll_hints.hpp"
#include "conduits/ofi/receive_buffers.hpp"
#include "conduits/ofi/registrations.hpp"
#include "conduits/ofi/requests.hpp"
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
class OfiConduit final : public core::Conduit,
                         public core::NativeRma,
                         public core::NativeSignal,
                         public core::NativeVector,
                         public core::NativeAtomics,
                         public core::Waitable {
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

  core::NativeRma* rma() noexcept override { return this; }
  core::NativeSignal* signal() noexcept override { return this; }
  core::NativeVector* vector() noexcept override { return most_local() >= 2 ? this : nullptr; }
  core::NativeAtomics* atomics() noexcept override { return provider_.atomics ? this : nullptr; }
  core::Waitable* waitable() noexcept override { return objects_.descriptor >= 0 ? this : nullptr; }
  void forget(Rank peer) noexcept override { lost_.forget(peer); }
  std::string state_of(Rank peer) const override;

  // NativeRma, NativeSignal (ofi_rma.cpp)
  Result<std::vector<std::byte>> register_segment(SegmentId id, core::MutableBytes memory) override;
  void unregister_segment(SegmentId id) noexcept override;
  Result<std::uint64_t> import_key(Rank peer, core::Bytes key) override;
  core::Post put(Rank peer, std::uint64_t key, std::uint64_t offset, core::Bytes from, bool inject,
                 core::Token token) noexcept override;
  core::Post get(Rank peer, std::uint64_t key, std::uint64_t offset, core::MutableBytes to,
                 core::Token token) noexcept override;
  core::Post put_signal(Rank peer, std::uint64_t key, std::uint64_t offset, core::Bytes from, Signal signal,
                        core::Token token) noexcept override;

  // NativeVector (ofi_vector.cpp)
  std::size_t most_local() const noexcept override;
  std::size_t most_remote() const noexcept override;
  core::Post put_pieces(Rank peer, std::uint64_t key, std::span<const core::RemotePiece> to,
                        std::span<const core::Bytes> from, core::Token token) noexcept override;
  core::Post get_pieces(Rank peer, std::uint64_t key, std::span<const core::RemotePiece> from,
                        std::span<const core::MutableBytes> to, core::Token token) noexcept override;

  // NativeAtomics (ofi_atomics.cpp)
  bool can(AtomicOp op, AtomicType type) const noexcept override;
  core::Post atomic(Rank peer, std::uint64_t key, std::uint64_t offset, const detail::AtomicCall& call,
                    core::Token token) noexcept override;

  // Waitable (ofi_wait.cpp)
  void arm() noexcept override {}
  void disarm() noexcept override {}
  void sleep(std::chrono::nanoseconds limit) noexcept override;
  std::chrono::nanoseconds within() const noexcept override;
  int descriptor() const noexcept override { return objects_.descriptor; }

 private:
  static constexpr std::size_t kTypes = 6;
  static constexpr std::size_t kOps = 10;

  Status refused(const char* what, int error) const noexcept;
  void drain() noexcept;
  void learn_atomics() noexcept;  // ofi_atomics.cpp

  // Lists: ofi_vector.cpp.
  core::PieceLimits piece_limits() const noexcept;
  template <class Local, class Copy>
  core::Post pieces_of_self(std::uint64_t key, std::span<const core::RemotePiece> remote,
                            std::span<const Local> local, const Copy& copy) noexcept;
  template <class Local>
  core::Post post_pieces(Request& request, std::uint64_t key, std::span<const core::RemotePiece> remote,
                         std::span<const Local> local) noexcept;

  // Puts: ofi_rma.cpp.
  core::Post write(Request& request, std::uint64_t key, std::uint64_t offset, core::Bytes from, bool inject,
                   std::uint64_t data, std::uint64_t flags) noexcept;
  core::Post put_to_self(std::uint64_t key, std::uint64_t offset, core::Bytes from) noexcept;

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
  std::uint64_t delivered_;  ///< what to ask for so that an end is an arrival
  core::ToSelf to_self_;
  Peers peers_;
  LostPeers lost_;
  PollHints hints_;
  Operations operations_;
  Messages messages_;
  std::vector<std::byte> aligned_;  // for a packet that the provider puts where no word may start
  bool queue_is_broken_ = false;
  std::array<std::array<bool, kOps>, kTypes> can_{};  // [type][operation]
};

}  // namespace aqueduct::conduits::ofi
