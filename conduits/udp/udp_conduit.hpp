#pragma once

#include "conduits/udp/process_conduits.hpp"
#include "conduits/udp/protocol/deferred_events.hpp"
#include "conduits/udp/protocol/transport.hpp"
#include "core/aside.hpp"
#include "core/conduit.hpp"
#include "core/log.hpp"
#include "core/network.hpp"
#include "core/progress_thread.hpp"

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace aqueduct::conduits::udp {

/// Options of one endpoint, from the settings.
struct UdpOptions {
  Secret secret{};  ///< of this endpoint only
  Security security = Security::header;
  Time patience = 10 * kMillisecond;  ///< until the progress thread takes over; 0: there is no such thread
  Time timeout = 5 * kSecond;
  std::size_t most_datagram = 65'504;
  std::size_t mtu_hint = 0;
  std::size_t receive_buffer = 0;  ///< size that the system granted
  bool shares_process = false;     ///< the process has other endpoints
  std::string network{};           ///< core::Properties::network
};

/// One rank's udp conduit.
///
/// Threads: the owner; a progress thread that takes over while the owner is away; the thread of another conduit of this
/// process that ends and waits for acknowledgements from this one. A lock lets in one at a time.
class UdpConduit final : public core::Conduit,
                         public core::NativeRma,
                         public core::NativeSignal,
                         public core::NativeUpdates,
                         public core::NativeRedirects,
                         public core::Waitable,
                         private UpperLayer,
                         private Transport::Watcher {
 public:
  UdpConduit(std::unique_ptr<Carrier> carrier, const Address& local, const UdpOptions& options,
             const core::Process& process, Rank me, ProcessConduits& process_conduits);
  ~UdpConduit() override;

  const core::Properties& properties() const noexcept override { return properties_; }
  std::vector<std::byte> address() override;
  Status connect(std::span<const std::vector<std::byte>> addresses) override;
  core::Post send(Rank to, core::Bytes header, core::Bytes payload, core::Token token) noexcept override;
  int poll(core::Inbox& inbox) noexcept override;

  core::NativeRma* rma() noexcept override { return this; }
  core::NativeSignal* signal() noexcept override { return this; }
  core::NativeUpdates* updates() noexcept override { return this; }
  core::NativeRedirects* redirects() noexcept override { return this; }
  core::Waitable* waitable() noexcept override { return this; }
  std::string state_of(Rank peer) const override;
  void forget(Rank peer) noexcept override;
  void serve_aside(core::Aside aside) noexcept override;

  // NativeRma, NativeSignal, NativeUpdates, NativeRedirects (udp_rma.cpp)
  Result<std::vector<std::byte>> register_segment(SegmentId id, core::MutableBytes memory) override;
  void unregister_segment(SegmentId id) noexcept override;
  Result<std::uint64_t> import_key(Rank peer, core::Bytes key) override;
  core::Post put(Rank peer, std::uint64_t key, std::uint64_t offset, core::Bytes from, bool inject,
                 core::Token token) noexcept override;
  core::Post get(Rank peer, std::uint64_t key, std::uint64_t offset, core::MutableBytes to,
                 core::Token token) noexcept override;
  bool takes_words() const noexcept override { return true; }
  core::Post put_signal_word(Rank peer, std::uint64_t key, std::uint64_t offset, core::Bytes from,
                             const core::RemoteWord& word, core::Token token) noexcept override;
  core::Post put_signal_unwaited(Rank peer, std::uint64_t key, std::uint64_t offset, core::Bytes from,
                                 Signal what, core::Token token) noexcept override;
  core::Post put_signal(Rank peer, std::uint64_t key, std::uint64_t offset, core::Bytes from, Signal what,
                        core::Token token) noexcept override;
  core::Post update(Rank peer, std::uint64_t key, std::uint64_t offset, const detail::AtomicCall& call,
                    core::Token token) noexcept override;
  void begin_redirect(core::Redirect& redirect) noexcept override;
  void end_redirect(core::Redirect& redirect) noexcept override;

  // Waitable
  void arm() noexcept override;
  void disarm() noexcept override;
  void sleep(std::chrono::nanoseconds limit) noexcept override;
  std::chrono::nanoseconds within() const noexcept override;
  int descriptor() const noexcept override { return transport_.carrier().descriptor(); }

 private:
  class Entry;
  class UnlockedForHandler;
  core::Post put_signal(Rank peer, std::uint64_t key, std::uint64_t offset, core::Bytes from, Signal what,
                        core::Token token, Connection::Answer answer) noexcept;

  bool ready(std::size_t messages, std::size_t bytes, std::size_t signals) noexcept override;
  void message(Rank from, core::Bytes bytes) noexcept override;
  void completed(core::Token token, Status status) noexcept override;
  void signalled(Rank from, Signal signal) noexcept override;
  core::MutableBytes segment(std::uint32_t id) noexcept override;
  void refused(Rank from, const char* call, std::uint32_t segment, std::uint64_t offset,
               std::size_t bytes) noexcept override;
  void lost(Rank peer) noexcept override;
  void silent(Rank peer, bool ever_heard) noexcept override;
  void black_hole(Rank peer) noexcept override;
  void attempts_exhausted(Rank peer) noexcept override;
  void no_memory(Rank peer) noexcept override;
  void drops_without_memory(Rank peer) noexcept override;
  /// For the log; empty if there is no memory for it.
  std::string address_of(Rank peer) const noexcept;
  /// What this system has done to datagrams (Carrier::troubles), likewise.
  std::string troubles() const noexcept;

  /// Reserves room to defer this much, in addition to the completions and losses that may come at any time.
  bool make_room(std::size_t messages, std::size_t bytes, std::size_t signals) noexcept {
    return deferred_.reserve(messages + signals + outstanding_ + ranks_, signals, bytes);
  }
  /// False: it is to be forgotten already.
  bool forget_later(Rank peer) noexcept;
  /// What a post to the own rank returns that finds no memory: this rank cannot be taken for lost, so it fails in the end.
  core::Post no_room_for_self() noexcept;
  template <class PostIt>
  core::Post post(Rank peer, const PostIt& post_it) noexcept;
  template <class PostIt>
  core::Post post_inside(Rank peer, const PostIt& post_it) noexcept;
  core::Post::Kind send_answer(Rank to, core::Bytes answer) noexcept;
  /// How long the transport needs no progress if nothing arrives. Requires: the caller holds the lock.
  std::chrono::nanoseconds until_deadline() const noexcept;
  void send_answers() noexcept;
  bool others_may_enter() const noexcept { return thread_ || options_.shares_process; }
  /// Returns what `Transport::close` calls while it waits: polls the other conduits of this process whose owners do
  /// not. Empty if there are no others.
  Transport::Meanwhile poll_others() noexcept;
  core::Post beyond(const char* call, Rank peer, std::uint64_t key, std::uint64_t offset,
                    std::size_t bytes) noexcept;
  core::Post put_to_self(std::uint64_t key, std::uint64_t offset, core::Bytes from) noexcept;

  UdpOptions options_;
  Address local_;
  core::Log& log_;
  ProcessConduits& process_conduits_;
  core::Properties properties_;
  Rank me_;
  Rank ranks_;
  std::vector<core::MutableBytes> segments_;  // by id
  core::Inbox* inbox_ = nullptr;              // while the owner polls
  int calls_ = 0;
  DeferredEvents deferred_;
  core::Aside aside_ = nullptr;      // serves messages while the owner is away
  core::AsideAnswers answers_;       // answers of aside_ that are not sent yet
  MemoryShortage self_shortage_;     // of memory for posts to the own rank
  std::size_t outstanding_ = 0;      // operations whose completion may have to be deferred
  std::vector<Rank> to_forget_;      // has room for every peer
  int forgetting_ = 0;               // polls since then in which something arrived
  std::atomic<bool> asleep_{false};  // the owner sleeps or is about to: see arm()
  mutable std::mutex mutex_;
  mutable bool inside_ = false;  // the owner holds the lock
  bool in_handler_ =
      false;  // the owner runs a handler in the middle of `progress`, and has released the lock
  mutable Transport transport_;
  std::optional<core::ProgressThread> thread_;
};

/// Takes the lock for the owner. Does nothing if the owner holds it already (a handler that sends); locks no mutex if
/// no other thread may enter.
class UdpConduit::Entry {
 public:
  explicit Entry(const UdpConduit& conduit) noexcept : conduit_(conduit), enters_(!conduit.inside_) {
    if (!enters_) return;
    if (conduit_.others_may_enter()) conduit_.mutex_.lock();
    conduit_.inside_ = true;
  }
  ~Entry() {
    if (!enters_) return;
    conduit_.inside_ = false;
    if (conduit_.others_may_enter()) conduit_.mutex_.unlock();
  }
  Entry(const Entry&) = delete;
  Entry& operator=(const Entry&) = delete;

 private:
  const UdpConduit& conduit_;
  const bool enters_;
};

/// Releases the lock while the owner runs a handler, so that the progress thread can send keep-alives.
class UdpConduit::UnlockedForHandler {
 public:
  explicit UnlockedForHandler(UdpConduit& conduit) noexcept
      : conduit_(conduit), unlocks_(conduit.others_may_enter()) {
    if (!unlocks_) return;
    // The owner may be in its last poll before it sleeps.
    if (slept_) conduit_.disarm();
    conduit_.in_handler_ = true;
    conduit_.inside_ = false;
    conduit_.mutex_.unlock();
  }
  ~UnlockedForHandler() {
    if (!unlocks_) return;
    conduit_.mutex_.lock();
    conduit_.inside_ = true;
    conduit_.in_handler_ = false;
    if (slept_) conduit_.arm();
  }
  UnlockedForHandler(const UnlockedForHandler&) = delete;
  UnlockedForHandler& operator=(const UnlockedForHandler&) = delete;

 private:
  UdpConduit& conduit_;
  const bool unlocks_;
  const bool slept_ = conduit_.asleep_.load(std::memory_order_relaxed);
};

template <class PostIt>
core::Post UdpConduit::post(Rank peer, const PostIt& post_it) noexcept {
  const Entry entry(*this);
  return post_inside(peer, post_it);
}

/// As `post`, for callers that hold the lock: the owner inside, or the progress thread.
template <class PostIt>
core::Post UdpConduit::post_inside(Rank peer, const PostIt& post_it) noexcept {
  Connection* connection = transport_.connection(peer);
  if (connection == nullptr) {
    if (transport_.is_gone(peer)) return core::Post::failed(ErrorCode::peer_lost);
    if (!transport_.serves(peer)) return core::Post::failed(ErrorCode::not_supported);
    // No memory now; there may be some later. If not, the next poll reports the peer as lost.
    if (transport_.lacks_memory() && forget_later(peer)) transport_.give_up_without_memory(peer);
    return core::Post::retry();
  }
  if (!make_room(1, 0, 0)) [[unlikely]] {
    connection->short_of_memory();
    return core::Post::retry();
  }
  const core::Post post = post_it(*connection);
  if (post.kind == core::Post::Kind::posted) ++outstanding_;
  if (post.kind == core::Post::Kind::done || post.kind == core::Post::Kind::posted)
    transport_.posted(*connection);
  return post;
}

}  // namespace aqueduct::conduits::udp
