#pragma once

#include <aqueduct/atomics.hpp>
#include <aqueduct/rank.hpp>
#include <aqueduct/signal.hpp>
#include <aqueduct/status.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace aqueduct::core {

/// Names an operation to a conduit, which hands it back with the completion and never looks inside.
using Token = std::uint64_t;

using Bytes = std::span<const std::byte>;
using MutableBytes = std::span<std::byte>;

/// The answer to a post.
///
/// done    it is over, and its buffers may be used again; no completion follows
/// posted  exactly one Inbox::completed with the token follows; the buffers belong to the conduit until then
/// retry   nothing happened: there was no room; try again after a poll
/// failed  nothing was started, because of `why`
struct Post {
  enum class Kind : std::uint8_t { done, posted, retry, failed };
  Kind kind;
  ErrorCode why = ErrorCode::ok;

  static constexpr Post done() noexcept { return {Kind::done}; }
  static constexpr Post posted() noexcept { return {Kind::posted}; }
  static constexpr Post retry() noexcept { return {Kind::retry}; }
  static constexpr Post failed(ErrorCode why) noexcept { return {Kind::failed, why}; }
};

/// Where a conduit delivers what `poll` finds. Every call happens inside `poll`, on the poller's thread.
class Inbox {
 public:
  /// A packet has arrived: header and payload, contiguous, valid during the call, 8-byte aligned. It is always
  /// taken: the layers above bound what a peer may have in flight.
  virtual void packet(Rank from, Bytes packet) noexcept = 0;
  /// What was posted under `token` is over.
  virtual void completed(Token token, Status status) noexcept = 0;
  /// A peer put data here with a native signal.
  virtual void signalled(Rank from, Signal signal) noexcept = 0;
  /// A peer has died or left; said once per peer. Everything posted to it completes, before or after.
  virtual void lost(Rank peer) noexcept = 0;

 protected:
  ~Inbox() = default;
};

/// What was done of a packet in its owner's place.
struct AsideDone {
  static constexpr std::size_t kMostAnswer = 64;
  static constexpr std::size_t kMostRest = 16;
  alignas(8) std::array<std::byte, kMostAnswer> answer;  ///< a packet for whoever has sent it
  alignas(8) std::array<std::byte, kMostRest> rest;      ///< what the owner gets in place of it, if anything
  std::size_t answer_bytes = 0;
  std::size_t rest_bytes = 0;
};

/// Does what a packet asks for without its owner, who computes: on the progress thread of a conduit that has one. It needs
/// this rank's part of a segment and nothing else of the layers above: `memory(what, id)`, empty if the conduit does not
/// know it. False: nothing has happened, the packet waits for the owner.
using Aside = bool (*)(Bytes packet, MutableBytes (*memory)(const void* what, SegmentId id) noexcept,
                       const void* what, AsideDone& done) noexcept;

/// Facts about a conduit, the same for its whole life after `connect`.
struct Properties {
  std::string name;                    ///< "smp"
  std::size_t max_packet = 0;          ///< header + payload of one send, in bytes; at least kLeastPacket
  std::size_t max_transfer = 0;        ///< bytes of one native put or get; longer ones are split above
  std::size_t max_inject = 0;          ///< puts up to this size take the source at the call, when asked
  bool put_before_send = false;        ///< a later send to the same peer arrives after an earlier put's bytes
  std::size_t max_ordered = SIZE_MAX;  ///< put_before_send is promised of puts up to this size
  bool concurrent_posts = false;       ///< posts may come from another thread than the poller's
  bool reports_lost_peers = false;     ///< notices by itself that a peer is gone
  bool copies = true;                  ///< send never answers `posted`: the payload is free at return
};

/// No conduit offers packets smaller than this.
inline constexpr std::size_t kLeastPacket = 256;
/// No layer above sends a longer header.
inline constexpr std::size_t kMostHeader = 128;

/// Memory that a conduit's own RDMA (or what stands for it) reaches.
///
/// Keys travel as bytes, once; `import_key` is called at the first use of a peer's segment.
class NativeRma {
 public:
  virtual ~NativeRma() = default;
  /// Makes memory a legal target; the bytes returned are what peers need.
  /// Errors: not_supported (the reference layer serves this segment), no_memory (names the limit in the log).
  virtual Result<std::vector<std::byte>> register_segment(SegmentId id, MutableBytes memory) = 0;
  virtual void unregister_segment(SegmentId id) noexcept = 0;
  /// A handle for a peer's segment. Errors: not_supported, peer_lost.
  virtual Result<std::uint64_t> import_key(Rank peer, Bytes key) = 0;
  /// Gives back a handle: its peer has unregistered the segment, or will, and nothing posted here uses it any more.
  virtual void forget_key(Rank /*peer*/, std::uint64_t /*key*/) noexcept {}

  /// `inject`: the source is free when this returns (only asked for up to max_inject bytes).
  /// A completion means the bytes are in the target's memory.
  virtual Post put(Rank peer, std::uint64_t key, std::uint64_t offset, Bytes from, bool inject,
                   Token token) noexcept = 0;
  virtual Post get(Rank peer, std::uint64_t key, std::uint64_t offset, MutableBytes to,
                   Token token) noexcept = 0;
};

/// A part of a peer's segment.
struct RemotePiece {
  std::uint64_t offset = 0;
  std::size_t bytes = 0;
};

/// Several pieces in one operation of the network: lists of local memory, lists of the peer's, or both. What is
/// beyond the limits goes piece by piece or in a packet: the layers above decide.
class NativeVector {
 public:
  virtual ~NativeVector() = default;
  /// Pieces of local memory in one call, at least 2; and of the peer's, at least 1.
  virtual std::size_t most_local() const noexcept = 0;
  virtual std::size_t most_remote() const noexcept = 0;
  /// Takes the bytes of `from`, in order, to the pieces of `to`, in order. Both have the same sum, which is at most
  /// max_transfer; no piece is empty. The lists may go at return, what they name at completion, which means what
  /// NativeRma::put's does.
  virtual Post put_pieces(Rank peer, std::uint64_t key, std::span<const RemotePiece> to,
                          std::span<const Bytes> from, Token token) noexcept = 0;
  virtual Post get_pieces(Rank peer, std::uint64_t key, std::span<const RemotePiece> from,
                          std::span<const MutableBytes> to, Token token) noexcept = 0;
};

/// A put whose arrival the target learns: Inbox::signalled there, after the bytes are in place.
class NativeSignal {
 public:
  virtual ~NativeSignal() = default;
  virtual Post put_signal(Rank peer, std::uint64_t key, std::uint64_t offset, Bytes from, Signal signal,
                          Token token) noexcept = 0;
};

/// Atomics done by the network. All of a job's atomics on a conduit's peers go one way: a conduit says here what
/// it can do, and a (type) with a single operation missing stays on the owner's processor.
class NativeAtomics {
 public:
  virtual ~NativeAtomics() = default;
  virtual bool can(aqueduct::AtomicOp op, aqueduct::AtomicType type) const noexcept = 0;
  /// `call.result`, if not null, holds the old value at completion.
  virtual Post atomic(Rank peer, std::uint64_t key, std::uint64_t offset, const detail::AtomicCall& call,
                      Token token) noexcept = 0;
};

/// Memory that neighbours map.
class CrossMap {
 public:
  virtual ~CrossMap() = default;
  /// Zeroed memory for a segment of mine, whose number is not known yet. `number`, for names and the log, differs from
  /// that of every other call. The log says what to try when it fails.
  virtual Result<MutableBytes> allocate(std::uint32_t number, std::size_t bytes) = 0;
  /// Gives back what `allocate` gave. Nobody uses it any more, though neighbours may still have it mapped.
  virtual void release(MutableBytes memory) noexcept = 0;
  /// What a neighbour needs to map it; also for the caller's own memory (allocated = false), which can be
  /// mapped only inside one process: an empty key means that it cannot be mapped at all.
  virtual std::vector<std::byte> export_map(SegmentId id, MutableBytes memory, bool allocated) = 0;
  /// A neighbour's segment, in this address space. Errors: not_supported, peer_lost, no_memory.
  virtual Result<std::byte*> map(Rank peer, Bytes key, std::size_t bytes) = 0;
  /// Gives back what `map` gave, once for each call of it.
  virtual void unmap(Rank /*peer*/, std::byte* /*at*/) noexcept {}
  /// Memory a neighbour may be asleep over was changed: wakes it if so. A load when it is awake.
  virtual void wake(Rank peer) noexcept = 0;
};

/// A barrier of the conduit's own, over a fixed set of ranks. Phases are numbered 1, 2, …
class NativeBarrier {
 public:
  virtual ~NativeBarrier() = default;
  virtual void notify(std::uint64_t phase) noexcept = 0;
  /// Whether all have notified that phase. Called again and again, so cheap.
  virtual bool reached(std::uint64_t phase) noexcept = 0;
  /// For the stall report: who has not notified that phase, as far as it can be told from here.
  virtual std::vector<Rank> missing(std::uint64_t) const { return {}; }
};

/// Operations on whole teams that a conduit does better than schedules of messages.
class NativeCollectives {
 public:
  virtual ~NativeCollectives() = default;
  /// Null when this set of ranks cannot have one.
  virtual std::unique_ptr<NativeBarrier> make_barrier(std::span<const Rank> members) = 0;
};

/// How to sleep until something arrives. Used so: arm, in one of two ways; poll once more; sleep; disarm.
class Waitable {
 public:
  virtual ~Waitable() = default;
  /// From now on an arrival ends a sleep, even one that begins later.
  virtual void arm() noexcept = 0;
  virtual void disarm() noexcept = 0;
  /// Sleeps until an arrival, or for `limit`.
  virtual void sleep(std::chrono::nanoseconds limit) noexcept = 0;

  /// A descriptor that is readable from an arrival on, for sleeping on several conduits at once; -1 if there is
  /// none, or none before the first `arm_descriptor`.
  virtual int descriptor() const noexcept { return -1; }
  /// As `arm`, for a sleep on the descriptor, which it returns. -1: it has none, and nothing is armed. It may be
  /// readable without an arrival, but not again after the poll that follows: errors of a socket must be taken too.
  virtual int arm_descriptor() noexcept {
    const int fd = descriptor();
    if (fd >= 0) arm();
    return fd;
  }

  /// How long from now the conduit can do without a poll though nothing arrives: until the next of its timers.
  /// Asked after the poll that follows arming; no sleep lasts longer. Zero or less: poll again at once.
  virtual std::chrono::nanoseconds within() const noexcept { return std::chrono::nanoseconds::max(); }
};

/// A transport, as one endpoint sees it. Five functions make it complete; the rest are capabilities that a
/// conduit may return, null when absent, and that the reference layer otherwise supplies.
///
/// Threads: used by the endpoint's thread only, unless properties().concurrent_posts.
class Conduit {
 public:
  virtual ~Conduit() = default;

  virtual const Properties& properties() const noexcept = 0;
  /// What peers need to reach this endpoint: any bytes.
  virtual std::vector<std::byte> address() = 0;
  /// Learns the addresses of its peers (indexed by rank; empty: not served by this conduit). Makes no connection
  /// that a first send could make.
  virtual Status connect(std::span<const std::vector<std::byte>> addresses) = 0;
  /// Sends one packet, header then payload, to a peer (or to itself). It arrives exactly once, in any order.
  /// The header is 8-byte aligned, and a multiple of 8 bytes long.
  /// `done`: both may be reused. `posted`: the payload belongs to the conduit until completed; the header never.
  virtual Post send(Rank to, Bytes header, Bytes payload, Token token) noexcept = 0;
  /// Delivers what has arrived or ended; returns how many calls it made to the inbox. Never blocks.
  virtual int poll(Inbox& inbox) noexcept = 0;

  virtual NativeRma* rma() noexcept { return nullptr; }
  virtual NativeSignal* signal() noexcept { return nullptr; }
  virtual NativeVector* vector() noexcept { return nullptr; }
  virtual NativeAtomics* atomics() noexcept { return nullptr; }
  virtual CrossMap* cross_map() noexcept { return nullptr; }
  virtual NativeCollectives* collectives() noexcept { return nullptr; }
  virtual Waitable* waitable() noexcept { return nullptr; }

  /// Packets that come while the owner neither polls nor sleeps are shown to `aside` first, by conduits that have a thread
  /// to do so. Said once, after `connect`.
  virtual void serve_aside(Aside) noexcept {}

  /// Looks whether its peers still live; called from time to time while something waits. Calls Inbox::lost.
  virtual void check_peers(Inbox&) noexcept {}
  /// The launcher says that a peer is gone, perhaps before the conduit has noticed: what was posted to it completes with
  /// peer_lost, in the next poll unless the network still uses the caller's memory.
  virtual void forget(Rank) noexcept {}
  /// One line for the stall report about a peer: queue lengths, last sign of life.
  virtual std::string state_of(Rank) const { return {}; }
};

}  // namespace aqueduct::core
