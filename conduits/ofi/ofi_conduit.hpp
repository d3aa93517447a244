#pragma once

#include "conduits/ofi/local_cache.hpp"
#include "conduits/ofi/objects.hpp"
#include "conduits/ofi/peers.hpp"
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

/// What the settings say of every endpoint of a process.
struct OfiOptions {
  std::size_t packet = 8192;
  std::uint32_t queue = 512;            ///< operations under way at once
  std::size_t receive_bytes = 1 << 20;  ///< for arriving packets, in all
  std::size_t keep_registered = 0;      ///< of local memory outside segments that nobody uses
  bool register_local = false;          ///< although the provider does not ask for it
  /// How long a provider may keep what was posted to a lost peer. Chosen: within what a lost peer may hold anybody up (2 s),
  /// and longer than what had left it can take.
  std::chrono::milliseconds give_back{1000};
};

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
  core::Post send(Rank to, core::Bytes header, core::Bytes payload, core::Token token) noexcept override;
  int poll(core::Inbox& inbox) noexcept override;

  core::NativeRma* rma() noexcept override { return this; }
  core::NativeSignal* signal() noexcept override { return this; }
  core::NativeVector* vector() noexcept override { return most_local() >= 2 ? this : nullptr; }
  core::NativeAtomics* atomics() noexcept override { return provider_.atomics ? this : nullptr; }
  core::Waitable* waitable() noexcept override { return objects_.descriptor >= 0 ? this : nullptr; }
  void forget(Rank peer) noexcept override;
  std::string state_of(Rank peer) const override;

  // NativeRma, NativeSignal (ofi_rma.cpp)
  Result<std::vector<std::byte>> register_segment(SegmentId id, core::MutableBytes memory) override;
  void unregister_segment(SegmentId id) noexcept override;
  Result<std::uint64_t> import_key(Rank peer, core::Bytes key) override;
  void forget_key(Rank, std::uint64_t key) noexcept override { registrations_.forget(key); }
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
  static constexpr auto kNever = std::chrono::steady_clock::time_point::max();

  Status refused(const char* what, int error) const noexcept;
  int register_slots(core::MutableBytes slots, void*& descriptor) noexcept;
  void drain() noexcept;
  void learn_atomics() noexcept;  // ofi_atomics.cpp

  // What is posted: ofi_post.cpp.
  Request* begin(Rank peer, Request::Kind kind, core::Token token) noexcept;
  core::Post no_request(Rank peer) noexcept;
  core::Post posted(Request& request, std::int64_t answer, const char* what) noexcept;
  void condemn(Rank peer, const char* what, std::int64_t error) noexcept;
  void send_signal(Request& request) noexcept;

  // Who has to look for transfers to get on: ofi_awake.cpp.
  void keep_awake(Rank peer) noexcept;
  void keep_awake() noexcept;
  void stay_awake() noexcept;
  bool is_kept_awake() noexcept;
  void send_unsent() noexcept;

  // Lists: ofi_vector.cpp.
  core::PieceLimits piece_limits() const noexcept;
  template <class Local, class Copy>
  core::Post pieces_of_self(std::uint64_t key, std::span<const core::RemotePiece> remote,
                            std::span<const Local> local, const Copy& copy) noexcept;
  template <class Local>
  core::Post post_pieces(Request& request, std::uint64_t key, std::span<const core::RemotePiece> remote,
                         std::span<const Local> local) noexcept;

  // Local buffers, and puts: ofi_rma.cpp.
  void give_back(Request& request) noexcept;
  bool lend(Request& request, core::Bytes buffer, void*& descriptor, std::int64_t& answer) noexcept;
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
  Status loss_of(Rank peer) const noexcept {
    return {peer == me_ ? ErrorCode::network_failed : ErrorCode::peer_lost, peer};
  }
  int ended(Request& request, Status status, core::Inbox& inbox) noexcept;
  int lose(core::Inbox& inbox) noexcept;
  void bury(Rank peer) noexcept;
  void bury_all() noexcept;
  void replace(std::uint32_t count, std::chrono::steady_clock::time_point now) noexcept;
  int end_unsent(core::Inbox& inbox) noexcept;
  int end_of_gone(core::Inbox& inbox) noexcept;
  void suspect(Rank peer, const char* why) noexcept;
  bool is_suspected(Rank peer) const noexcept;

  const Provider& provider_;
  core::Log& log_;
  Rank me_;
  core::Properties properties_;
  Requests requests_;  // before the endpoint: until it is closed the provider writes into their memory
  ReceiveBuffers receive_;
  Objects objects_;
  Registrations registrations_;
  bool local_needed_;
  std::uint64_t delivered_;  ///< what to ask for so that an end is an arrival
  std::chrono::milliseconds give_back_;
  LocalCache cache_;
  std::vector<Fid<fid_mr>> slots_regions_;
  Fid<fid_mr> receive_region_;
  core::ToSelf to_self_;
  Peers peers_;
  std::vector<std::byte> aligned_;  // for a packet that the provider puts where no word may start
  Request* unsent_ = nullptr;       // signals that found no room
  std::vector<Rank> forgotten_;     // the launcher's word, until the next poll
  std::vector<Rank> suspected_;     // the provider's word, until the next poll
  std::chrono::steady_clock::time_point look_at_gone_ = kNever;  // whether they still have memory of callers'
  const bool targets_must_look_;  ///< at transfers that their completion queue does not tell of
  std::vector<Rank> kept_awake_;  // with room for all
  std::chrono::steady_clock::time_point
      awake_until_{};  // a peer's transfers go on; none: not as far as is known
  std::uint32_t looks_ = 0;
  bool queue_is_broken_ = false;
  std::array<std::array<bool, kOps>, kTypes> can_{};  // [type][operation]
};

}  // namespace aqueduct::conduits::ofi
