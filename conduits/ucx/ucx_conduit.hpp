#pragma once

#include "conduits/ucx/arriving.hpp"
#include "conduits/ucx/context.hpp"
#include "conduits/ucx/held_signals.hpp"
#include "conduits/ucx/packet_pool.hpp"
#include "conduits/ucx/peer.hpp"
#include "conduits/ucx/pending.hpp"
#include "conduits/ucx/wire.hpp"
#include "core/arrivals.hpp"
#include "core/aside.hpp"
#include "core/conduit.hpp"
#include "core/handles.hpp"
#include "core/network.hpp"
#include "core/pieces.hpp"
#include "core/progress_thread.hpp"

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace aqueduct::conduits::ucx {

/// What an endpoint has asked of UCX so far.
struct Counts {
  std::uint64_t packets = 0;       ///< messages of the layers above
  std::uint64_t puts = 0;          ///< by the network
  std::uint64_t flushes = 0;       ///< that ended such puts
  std::uint64_t put_messages = 0;  ///< puts by message
  std::uint64_t answers = 0;       ///< messages that answer puts, of one or more
  std::uint64_t gets = 0;
  std::uint64_t copied = 0;    ///< packets that came to an odd address
  std::uint64_t rejected = 0;  ///< messages that were not of this job, or made no sense
};

/// One rank's way to the others through UCX: a UCP worker, and an endpoint for each peer that it talks to.
///
/// Threads: the owner's, and a progress thread that does its work while it is away; one lock lets in one at a time.
class UcxConduit final : public core::Conduit,
                         public core::NativeRma,
                         public core::NativeSignal,
                         public core::NativeVector,
                         public core::CrossMap,
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
  core::CrossMap* cross_map() noexcept override { return maps_ ? this : nullptr; }
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
  void forget_key(Rank peer, std::uint64_t key) noexcept override;
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

  // CrossMap (ucx_map.cpp)
  Result<core::MutableBytes> allocate(std::uint32_t number, std::size_t bytes) override;
  void release(core::MutableBytes memory) noexcept override;
  void unmap(Rank peer, std::byte* at) noexcept override;
  std::vector<std::byte> export_map(SegmentId id, core::MutableBytes memory, bool allocated) override;
  Result<std::byte*> map(Rank peer, core::Bytes key, std::size_t bytes) override;
  void wake(Rank) noexcept override {}  // nobody sleeps: see waitable()

  // Waitable (ucx_wait.cpp)
  void arm() noexcept override;
  void disarm() noexcept override;
  void sleep(std::chrono::nanoseconds limit) noexcept override;
  std::chrono::nanoseconds within() const noexcept override;
  int descriptor() const noexcept override { return event_fd_; }

 private:
  class Entry;

  /// The pieces of one call lie where an injected put's bytes would.
  static constexpr std::size_t kMostPieces = kMostInject / sizeof(ucp_dt_iov_t);
  core::PieceLimits piece_limits() const noexcept { return {1, kMostPieces, properties_.max_transfer}; }

  /// A segment of a peer's: where it lies there, and what UCX needs to reach it.
  struct Key {
    std::uint64_t address = 0;
    ucp_rkey_h rkey = nullptr;
    SegmentId segment = 0;
    bool by_network = false;  ///< the network itself reaches it; else its owner's processor must help
  };

  // The progress thread (ucx_wait.cpp).
  Status start_thread();
  std::chrono::nanoseconds stand_in(const core::ProgressThread& thread) noexcept;

  bool has_rma(const Peer& peer, core::Bytes packed) const;
  Result<std::vector<std::byte>> packed(SegmentId id, core::MutableBytes memory, ucp_mem_h handle);

  // Connections (ucx_peers.cpp).
  core::Post reach(Peer& peer) noexcept;
  void condemn(Peer& peer, ucs_status_t why) noexcept;
  static void on_failure(void* arg, ucp_ep_h ep, ucs_status_t status);
  void settle_losses() noexcept;
  void settle(Peer& peer) noexcept;
  void settle_rest() noexcept;
  void give_up(Peer& peer) noexcept;
  bool can_force_close(const Peer& peer) const noexcept;
  void close() noexcept;
  ErrorCode code_of(const Peer& peer, ucs_status_t status, const char* what) noexcept;

  // Packets (ucx_send.cpp).
  static ucs_status_t on_packet(void* arg, const void* header, std::size_t header_bytes, void* data,
                                std::size_t bytes, const ucp_am_recv_param_t* param);
  static void on_sent(void* request, ucs_status_t status, void* user_data);
  void arrived(const std::byte* data, std::size_t bytes) noexcept;
  void arrived_aside(Rank from, core::Bytes packet) noexcept;
  void send_aside_answers() noexcept;
  core::Post send_message(Peer& peer, MessageId id, core::Bytes header, core::Bytes payload) noexcept;
  bool is_ours(const PacketHead& head) noexcept;
  void reject(std::string_view what) noexcept;

  // Puts by message (ucx_put.cpp).
  core::Post put_by_message(Peer& peer, Pending& pending, std::span<const core::Bytes> from,
                            std::size_t bytes, PutHead head) noexcept;
  core::Post put_pieces_by_network(Peer& peer, Pending& pending, const Key& place, std::uint64_t offset,
                                   std::span<const core::Bytes> from) noexcept;
  static void on_put_sent(void* request, ucs_status_t status, void* user_data);
  static ucs_status_t on_put(void* arg, const void* header, std::size_t header_bytes, void* data,
                             std::size_t bytes, const ucp_am_recv_param_t* param);
  static ucs_status_t on_short_put(void* arg, const void* header, std::size_t header_bytes, void* data,
                                   std::size_t bytes, const ucp_am_recv_param_t* param);
  std::optional<std::byte*> place_of(const PutHead& head, std::size_t bytes) noexcept;
  static void on_received(void* request, ucs_status_t status, std::size_t bytes, void* user_data);
  static ucs_status_t on_put_done(void* arg, const void* header, std::size_t header_bytes, void* data,
                                  std::size_t bytes, const ucp_am_recv_param_t* param);
  void in_place(const PutHead& head) noexcept;
  void answer_put(const PutHead& head, ErrorCode code) noexcept;
  void send_answers() noexcept;

  // Operations (ucx_rma.cpp).
  static void on_got(void* request, ucs_status_t status, void* user_data);
  static void on_flushed(void* request, ucs_status_t status, void* user_data);
  void flush_dirty() noexcept;
  void make_dirty(Peer& peer) noexcept;
  bool flush(Peer& peer) noexcept;
  void await_flush(Peer& peer, Pending& put) noexcept;
  Pending* begin(Peer& peer, core::Token token) noexcept;
  void give(Pending& pending) noexcept;
  core::Post refused(const Peer& peer, Pending& pending, ucs_status_t status) noexcept;
  void end_puts(Pending* puts, Status status) noexcept;
  void end(Pending& pending, Status status) noexcept;
  Status status_of(Rank peer, ucs_status_t status) noexcept;

  Context& context_;
  const Library& ucp_;
  core::Process process_;
  core::Log& log_;
  core::Properties properties_;
  std::string put_by_;  ///< AQUEDUCT_UCX_PUT
  Rank me_;
  ucp_worker_h worker_ = nullptr;
  int event_fd_ = -1;
  bool ready_ = false;       ///< UCX would not be armed: it has work
  std::vector<Peer> peers_;  // [rank]
  std::size_t most_packets_each_;
  PacketPool packets_;
  PendingPool pending_;
  ArrivingPool arriving_;
  core::Handles<Key> keys_;
  bool maps_;  ///< the ranks share a host, and UCX gives memory that all of them can map
  std::vector<std::pair<core::MutableBytes, ucp_mem_h>> segments_;   // by id
  std::vector<std::pair<core::MutableBytes, ucp_mem_h>> allocated_;  // what UCX gave, for segments
  std::vector<Rank> dirty_;         // peers with puts that no flush follows yet
  std::vector<Rank> flushing_;      // those whose turn it is
  std::vector<Rank> answering_;     // peers whose puts have been carried out and not answered
  std::vector<Rank> losing_;        // peers whose loss is still to be settled
  std::vector<Rank> leaving_;       // lost peers of which UCX may still have something
  std::vector<std::byte> aligned_;  // for packets that UCX delivers at odd addresses
  core::Inbox* inbox_ = nullptr;    // while the owner polls
  int calls_ = 0;
  core::Arrivals arrivals_;           // packets that came outside of poll
  Pending* ended_ = nullptr;          // operations that did so: they keep their places until they are told
  core::Aside aside_ = nullptr;       // what may be done outside of poll
  core::AsideAnswers aside_answers_;  // of that
  HeldSignals held_signals_;
  Counts counts_;
  mutable std::mutex mutex_;
  mutable bool inside_ = false;  // the owner is
  std::optional<core::ProgressThread> thread_;
};

/// Lets the owner in; nothing where it is in already (a handler that sends), or where there is no thread beside it.
class UcxConduit::Entry {
 public:
  explicit Entry(const UcxConduit& conduit) noexcept
      : conduit_(conduit.thread_ && !conduit.inside_ ? &conduit : nullptr) {
    if (conduit_ == nullptr) return;
    conduit_->mutex_.lock();
    conduit_->inside_ = true;
  }
  ~Entry() {
    if (conduit_ == nullptr) return;
    conduit_->inside_ = false;
    conduit_->mutex_.unlock();
  }
  Entry(const Entry&) = delete;
  Entry& operator=(const Entry&) = delete;

 private:
  const UcxConduit* conduit_;
};

}  // namespace aqueduct::conduits::ucx
