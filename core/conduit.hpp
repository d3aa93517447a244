#pragma once

#include <aqueduct/atomic_types.hpp>
#include <aqueduct/coll_types.hpp>
#include <aqueduct/global_ptr.hpp>
#include <aqueduct/network_model.hpp>
#include <aqueduct/rank.hpp>
#include <aqueduct/signal_types.hpp>
#include <aqueduct/status.hpp>

#include "core/atomic_set.hpp"
#include "core/barrier_vote.hpp"
#include "core/clock.hpp"
#include "core/redirect.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace aqueduct::core {

/// Identifies a post. The conduit returns the token with the completion and does not interpret it. Several posts may
/// have the same token (parts of one operation), and 0 is a token like any other.
using Token = std::uint64_t;

using Bytes = std::span<const std::byte>;
using MutableBytes = std::span<std::byte>;

/// The answer to a post. No post blocks, and no post calls the inbox.
///
/// done    The operation is complete and its buffers may be reused. No completion follows.
/// posted  Exactly one Inbox::completed with the token follows. The buffers belong to the conduit until then.
/// retry   Nothing happened, because there is no room now. The caller tries again after a poll. `why` may be no_memory: then
///         memory is what lacks, and an operation that finds none for some seconds ends with that error.
/// failed  Nothing was started, and trying again does not help. `why` is the reason, such as peer_lost.
struct Post {
  enum class Kind : std::uint8_t { done, posted, retry, failed };
  Kind kind;
  ErrorCode why = ErrorCode::ok;

  static constexpr Post done() noexcept { return {Kind::done}; }
  static constexpr Post posted() noexcept { return {Kind::posted}; }
  static constexpr Post retry(ErrorCode why = ErrorCode::ok) noexcept { return {Kind::retry, why}; }
  static constexpr Post failed(ErrorCode why) noexcept { return {Kind::failed, why}; }
};

/// Receives what a conduit finds. The conduit calls it inside
/// `poll` and `check_peers` only, on the thread that called these.
///
/// Before a call returns, it may run handlers of active messages. These call other functions of the same conduit, above
/// all `send`, but neither `poll` nor `check_peers`.
class Inbox {
 public:
  /// A packet has arrived. `packet` is the header, directly followed by the payload;
  /// it begins at a multiple of 8 bytes and need not stay valid after the call. The
  /// inbox takes every packet: credits bound how many a peer may have in flight.
  virtual void packet(Rank from, Bytes packet) noexcept = 0;
  /// A packet has arrived whose header and payload lie apart. The payload begins at a multiple of 64 bytes, and the 64 bytes
  /// before it belong to the packet too: the default copies the header there, so that the two lie together. For a conduit
  /// whose headers come by a faster way than its payloads.
  virtual void packet_in_parts(Rank from, Bytes header, MutableBytes payload) noexcept {
    std::byte* const start = payload.data() - header.size();
    std::memcpy(start, header.data(), header.size());
    packet(from, {start, header.size() + payload.size()});
  }
  /// The post with `token` has completed: its buffers may be reused. Called once for each answer `posted`, in any
  /// order. `status` is ok, or says why the operation failed; then nothing is promised about the target's memory.
  virtual void completed(Token token, Status status) noexcept = 0;
  /// The source of a put with a native signal, whose answer was `posted`, may be written again; `completed` follows. A
  /// conduit need not tell: the completion frees the source too.
  virtual void source_free(Token /*token*/) noexcept {}
  /// A peer's put with a native signal has arrived: its bytes are in place.
  virtual void signalled(Rank from, Signal signal) noexcept = 0;
  /// A peer has died or left. Called at most once for each peer, after the delivery of all that the peer sent before.
  /// Every operation that was posted to it still completes, before or after this call.
  /// The inbox may call `forget` for that peer before it returns.
  virtual void lost(Rank peer) noexcept = 0;

 protected:
  ~Inbox() = default;
};

/// The result of an Aside, which has served a packet in place of the memory's owner.
struct AsideDone {
  static constexpr std::size_t kMostAnswer = 64;
  static constexpr std::size_t kMostRest = 16;
  alignas(8) std::array<std::byte, kMostAnswer> answer;  ///< a packet, to be sent to the initiator
  alignas(8) std::array<std::byte, kMostRest> rest;      ///< a packet for the owner, instead of the original
  std::size_t answer_bytes = 0;
  std::size_t rest_bytes = 0;  ///< 0: the owner gets no packet
};

/// Carries out a packet's request on the conduit's progress thread, while the endpoint's owner computes.
///
/// Returns true if the request is done: `done` is filled. Returns false if nothing
/// happened: the owner must get the packet. `memory(what, id)` returns this rank's
/// part of a segment, or an empty span if the conduit does not know the segment.
///
/// Threads: may run at the same time as the owner's thread. It uses nothing of the endpoint but `memory`.
using Aside = bool (*)(Bytes packet, MutableBytes (*memory)(const void* what, SegmentId id) noexcept,
                       const void* what, AsideDone& done) noexcept;

/// Which native operations treat an aligned word (1, 2, 4 or 8 bytes at a multiple of that) as one: a put stores it once
/// and a get loads it once, whole, as docs/memory-model.md says (M-1 to M-3). In rising order.
enum class WholeWords : std::uint8_t {
  none,           ///< not promised: words go by the reference layer, or by native atomics
  puts,           ///< of puts, with or without a signal; gets of words go in another way
  puts_and_gets,  ///< of both
};

/// Facts about a conduit. They do not change after `connect`; `name` and `max_packet` do not change at all.
struct Properties {
  std::string name;              ///< such as "smp"
  std::size_t max_packet = 0;    ///< bytes of one send, header and payload; the same on all ranks
  std::size_t max_transfer = 0;  ///< bytes of one native put or get; the layers above split longer ones
  std::size_t max_inject = 0;    ///< largest put for which NativeRma::put accepts `inject`
  /// Up to this size NativeSignal::put_signal reads `from` only during the call.
  std::size_t max_inject_signal = 0;
  /// The largest amount of a signal that NativeSignal::put_signal carries with the bytes; a larger one costs a message
  /// more.
  std::uint64_t max_signal_add = UINT64_MAX;
  bool put_before_send = false;   ///< a later send to the same peer arrives after an earlier put's bytes
  bool put_before_put = false;    ///< the bytes of a later put to the same peer arrive after an earlier put's
  bool send_before_send = false;  ///< a later packet to the same peer is delivered after an earlier one
  std::size_t max_ordered = SIZE_MAX;  ///< largest put for which put_before_send and put_before_put hold
  bool concurrent_posts = false;       ///< another thread may post while the endpoint's thread polls
  bool reports_lost_peers = false;     ///< calls Inbox::lost without help of the launcher
  /// Not of lists of pieces. Say beside the value why it is so.
  WholeWords whole_words = WholeWords::none;
  /// The processors of both ends move the bytes of native puts, through the system's sockets. Teams of which a member has
  /// such a conduit copy blocks rather than ask a peer where they shall go (coll/tune/rules.cpp).
  bool through_sockets = false;
  bool copies = true;  ///< send never answers `posted`, and the payload is free at return
};

/// The least max_packet that a conduit may have.
inline constexpr std::size_t kLeastPacket = 256;
/// The longest header that the layers above send.
inline constexpr std::size_t kMostHeader = 128;

/// Puts and gets that the network does itself, between any memory of this process and registered segments of peers.
///
/// The bytes that `register_segment` returns travel to the peers once. A peer gives them to its own `import_key` at the
/// first use of the segment, and names the segment by the handle from then on.
///
/// In every operation `key` is a handle for a segment of that `peer`, `offset` and length lie inside the peer's part,
/// and the length is 1 to max_transfer bytes: the layers above check this.
class NativeRma {
 public:
  virtual ~NativeRma() = default;
  /// Lets peers put to and get from `memory`, which is not empty. Returns the bytes that peers need.
  /// Called before `connect` for the segments that a job begins with, and after it for others.
  /// Errors: not_supported (the reference layer serves this segment), no_memory (the log names the limit to raise). Any
  ///         error but not_supported makes the creation of the segment fail.
  virtual Result<std::vector<std::byte>> register_segment(SegmentId id, MutableBytes memory) = 0;
  /// Ends the registration. Does nothing if `id` is not registered.
  virtual void unregister_segment(SegmentId id) noexcept = 0;
  /// Returns a handle for a peer's segment. `key` is what the peer's `register_segment` returned. Called once for each.
  /// Errors: not_supported (the reference layer serves this peer's part), peer_lost.
  virtual Result<std::uint64_t> import_key(Rank peer, Bytes key) = 0;
  /// Gives back a handle. The peer has unregistered the segment or will, and no operation that was posted here still
  /// uses the handle.
  virtual void forget_key(Rank /*peer*/, std::uint64_t /*key*/) noexcept {}

  /// Writes `from` to the peer's segment.
  ///
  /// Completion:  the bytes are in the target's memory; it is not enough that they have left.
  /// Lifetime:    `from` until completion; with `inject`, which is set
  ///              for at most max_inject bytes, only during the call.
  virtual Post put(Rank peer, std::uint64_t key, std::uint64_t offset, Bytes from, bool inject,
                   Token token) noexcept = 0;
  /// Reads from the peer's segment.
  ///
  /// Completion:  `to` holds the bytes.
  /// Lifetime:    `to` until completion.
  virtual Post get(Rank peer, std::uint64_t key, std::uint64_t offset, MutableBytes to,
                   Token token) noexcept = 0;
};

/// A range of a peer's segment.
struct RemotePiece {
  std::uint64_t offset = 0;
  std::size_t bytes = 0;
};

/// Puts and gets of several pieces in one operation of the network: lists of local pieces, of remote pieces, or both.
/// Transfers beyond the limits go in other ways, which the layers above choose: one operation a piece, or packets.
class NativeVector {
 public:
  virtual ~NativeVector() = default;
  /// The most local pieces in one call: at least 2.
  virtual std::size_t most_local() const noexcept = 0;
  /// The most remote pieces in one call: at least 1.
  virtual std::size_t most_remote() const noexcept = 0;
  /// Writes the bytes of the pieces `from`, in order, to the pieces `to`, in order.
  ///
  /// Requires:    both lists have the same number of bytes in all, at most max_transfer; no piece is empty.
  /// Completion:  as of NativeRma::put.
  /// Lifetime:    the lists only during the call; the memory that they name until completion.
  virtual Post put_pieces(Rank peer, std::uint64_t key, std::span<const RemotePiece> to,
                          std::span<const Bytes> from, Token token) noexcept = 0;
  /// Reads the pieces `from` into the pieces `to`: the reverse of put_pieces, with the same rules.
  virtual Post get_pieces(Rank peer, std::uint64_t key, std::span<const RemotePiece> from,
                          std::span<const MutableBytes> to, Token token) noexcept = 0;
};

/// A signal to a 64-bit word of a registered segment of the peer. The word's address on its owner is a multiple of 8.
struct RemoteWord {
  std::uint64_t key =
      0;  ///< the handle of the word's segment, which may be another one than that of the bytes
  std::uint64_t offset = 0;  ///< with the 8 bytes there, inside the peer's part
  std::uint64_t value = 0;
  SignalOp op = SignalOp::add;
};

/// A put that the target notices: its conduit calls Inbox::signalled once, after the bytes are in place.
class NativeSignal {
 public:
  virtual ~NativeSignal() = default;
  /// As NativeRma::put without `inject`, but up to Properties::max_inject_signal bytes `from` is read only during the
  /// call. It may be empty: a signal alone. The completion says that the bytes are in place; the target may not have polled yet.
  virtual Post put_signal(Rank peer, std::uint64_t key, std::uint64_t offset, Bytes from, Signal signal,
                          Token token) noexcept = 0;
  /// As put_signal, of a put whose completion nobody waits for: it may come late. So the conduit need not ask the target
  /// to acknowledge it at once, and the acknowledgement can travel with what the target sends next. Requires: at most
  /// Properties::max_inject_signal bytes.
  virtual Post put_signal_unwaited(Rank peer, std::uint64_t key, std::uint64_t offset, Bytes from,
                                   Signal signal, Token token) noexcept {
    return put_signal(peer, key, offset, from, signal, token);
  }
  /// Where this rank's counters lie: slot s is the 64-bit word s. A conduit that can add to them by itself answers true.
  /// From then on it adds to the word, with release, after the bytes are in place, in place of a call of
  /// Inbox::signalled. That ends a sleep, and counts among the calls of the next `poll`. Called after `connect`, at most
  /// once.
  virtual bool count_in(MutableBytes /*counters*/) noexcept { return false; }
  /// Whether put_signal_word works. The answer does not change after `connect`, and is the same for all peers.
  virtual bool takes_words() const noexcept { return false; }
  /// As put_signal, but in place of the call of Inbox::signalled the target's conduit updates `word` once, after the bytes
  /// are in place (apply_signal in core/word_signal.hpp does it, on the memory of register_segment). The update ends a
  /// sleep of the target, as an arrival does. Called only if takes_words() is true.
  ///
  /// The word is updated by a processor of the target's host, so it is atomic with the processors' atomics.
  virtual Post put_signal_word(Rank /*peer*/, std::uint64_t /*key*/, std::uint64_t /*offset*/, Bytes /*from*/,
                               const RemoteWord& /*word*/, Token /*token*/) noexcept {
    return Post::failed(ErrorCode::not_supported);
  }
};

/// Atomics that the network does. They need not be atomic with respect to a processor's instructions: the layers above
/// do all atomics of a domain by the network, or all by the owner's processor (docs/decisions/0048-atomic-domains.md).
class NativeAtomics {
 public:
  virtual ~NativeAtomics() = default;
  /// The atomics that the network does, with the results of aqueduct::AtomicOp. The answer does not change after
  /// `connect`.
  virtual AtomicSet operations() const noexcept = 0;
  /// Does `call` on a word of the peer's segment, or of this rank's own. The word is aligned to its size.
  ///
  /// Completion:  the operation is done, and `*call.result` holds the old value if `call.result` is not null.
  /// Lifetime:    `call` only during the call; `*call.result` until completion.
  virtual Post atomic(Rank peer, std::uint64_t key, std::uint64_t offset, const detail::AtomicCall& call,
                      Token token) noexcept = 0;
};

/// Atomics without a result, which a processor of the target's host carries out when they arrive. So they are atomic with
/// the processors' atomics, and the conduit's acknowledgement completes them: no message has to come back.
class NativeUpdates {
 public:
  /// Whether a conduit with updates takes this call: it has no result, and a result is all that a load has. A
  /// compare-swap has two operands.
  static constexpr bool takes(const detail::AtomicCall& call) noexcept {
    return call.result == nullptr && call.op != AtomicOp::load && call.op != AtomicOp::compare_swap;
  }

  virtual ~NativeUpdates() = default;
  /// Does `call`, for which takes() is true, on a word of the peer's segment. The word is aligned to its size.
  ///
  /// Completion:  the word has changed, unless its segment has ended meanwhile: then the owner's log says so.
  /// Lifetime:    `call` only during the call.
  virtual Post update(Rank peer, std::uint64_t key, std::uint64_t offset, const detail::AtomicCall& call,
                      Token token) noexcept = 0;
};

/// What peers put into a range of this rank's memory is stored elsewhere. For a conduit whose processor stores the bytes, and
/// so can choose where.
class NativeRedirects {
 public:
  virtual ~NativeRedirects() = default;
  /// Puts to the range that arrive from now on go where the redirect says, if the whole packet is in the range. Requires: no
  /// two redirects have a byte in common. No byte of a put is stored twice, and all are in place before what tells of the put.
  /// Lifetime: the redirect and both ranges until `end_redirect`.
  virtual void begin_redirect(Redirect& redirect) noexcept = 0;
  /// The conduit forgets it. Nothing is stored there when this has returned.
  virtual void end_redirect(Redirect& redirect) noexcept = 0;
};

/// Memory that neighbours map, so that plain instructions reach it.
class CrossMap {
 public:
  /// The most bytes that this conduit can allocate now, apart from what the machine has in memory.
  struct Room {
    std::uint64_t one = UINT64_MAX;  ///< in one call
    std::uint64_t all = UINT64_MAX;  ///< in all further calls of the ranks of this host together
  };

  virtual ~CrossMap() = default;
  /// Returns zeroed memory for a segment of mine, whose id is not known yet. `number` is different in every call; it is
  /// for names and the log. After a failure the log says what to try.
  virtual Result<MutableBytes> allocate(std::uint32_t number, std::size_t bytes) = 0;
  /// The limits of `allocate`, such as the room in a file system.
  virtual Room room() const { return {}; }
  /// Frees memory that `allocate` returned. No rank uses it any more, but neighbours may still have it mapped.
  virtual void release(MutableBytes memory) noexcept = 0;
  /// Returns what a neighbour needs to map the segment; empty if no neighbour can.
  /// `allocated` is false for memory that the program attaches: it can be mapped only inside its own process.
  virtual std::vector<std::byte> export_map(SegmentId id, MutableBytes memory, bool allocated) = 0;
  /// Returns the address at which a neighbour's segment of `bytes`
  /// bytes is mapped here. `key` is from its `export_map`.
  /// Errors: not_supported, peer_lost, no_memory. After an error the segment is reached over the wire.
  virtual Result<std::byte*> map(Rank peer, Bytes key, std::size_t bytes) = 0;
  /// Gives back what `map` returned, once for each call of `map`.
  virtual void unmap(Rank /*peer*/, std::byte* /*at*/) noexcept {}
  /// Wakes a neighbour that sleeps. The layers above call it when they have changed memory for which the neighbour
  /// may be waiting, so it must be cheap if the neighbour is awake: a load.
  virtual void wake(Rank peer) noexcept = 0;
  /// How to see whether a neighbour needs to be woken.
  struct Sleeper {
    const std::atomic<std::uint32_t>* word = nullptr;  ///< not 0 while it sleeps; null: only `wake` knows
    /// Who goes to sleep makes all others execute a memory barrier, so that a release store before a plain look at the
    /// word is enough. Otherwise both are sequentially consistent.
    bool fenced = false;
  };
  virtual Sleeper sleeper(Rank /*peer*/) const noexcept { return {}; }
  /// What a neighbour's NativeRma::import_key needs to `get` out of any memory of this process, by copies that the system makes:
  /// an offset is then an address, and a `get` is done or fails. Empty: neighbours cannot.
  virtual std::vector<std::byte> export_process() { return {}; }
  /// Whether a neighbour is in this process, so that its addresses are this rank's too.
  virtual bool in_this_process(Rank /*peer*/) const noexcept { return false; }
};

/// A conduit's barrier over a fixed set of ranks. Its phases are numbered 1, 2, …
class NativeBarrier {
 public:
  virtual ~NativeBarrier() = default;
  /// This rank has arrived at `phase`, with this vote. Called once for each phase, in order, after the phase before was
  /// reached and its result was read. A rank that knows of a lost member notifies no further phase. Does not block.
  virtual void notify(std::uint64_t phase, BarrierVote vote) noexcept = 0;
  /// Whether all members have notified `phase`. Called repeatedly while a rank waits, so it must be cheap.
  virtual bool reached(std::uint64_t phase) noexcept = 0;
  /// The votes of all members, merged: the same on all of them. Called once `phase` is reached, before the next notify.
  virtual BarrierVote result(std::uint64_t phase) noexcept = 0;
  /// For the stall report: the members that have not notified `phase`, as far as this rank can know.
  virtual std::vector<Rank> missing(std::uint64_t) const { return {}; }
  /// The team ends on all members: each has read the result of the last phase, and calls this once before it destroys
  /// the barrier. What the barrier used may serve another team. Without this call it stays in use until the job ends,
  /// because other members may still use the barrier.
  virtual void give_back() noexcept {}
};

/// A collective operation as a conduit is asked for it. The same on all members of the team.
///
/// Blocks lie one after the other in a buffer, without gaps, in team order. A block is what docs/write-a-conduit.md says for
/// the operation.
struct NativeShape {
  Collective operation = Collective::broadcast;  ///< broadcast to exscan
  /// Position in the team; 0 if the operation has none. `refusal` and `cost` may be asked with 0 for any root, so their
  /// answers depend on no root.
  Rank root = 0;
  std::uint32_t element = 1;  ///< bytes of an element
  std::uint64_t bytes = 0;    ///< of one block: a multiple of `element`, and not 0
  /// The modes of the call, for a conduit that can do some only. Whatever they are, a conduit does what Sync::mine says at
  /// both ends: what goes beyond it the library does around the operation.
  Sync in = Sync::mine;
  Sync out = Sync::mine;
  // Of a reduction.
  ReduceOp op = ReduceOp::sum;  ///< `user`: an operator that only NativeCall::combine knows
  /// `bytes`: elements that only NativeCall::combine can combine.
  ElementType type = ElementType::bytes;
  ReduceOrder order = ReduceOrder::any;
  bool commutative = true;
};

/// One member's part of an operation.
struct NativeCall {
  NativeShape shape;
  /// The team's operations are numbered 1, 2, …; each member starts them in this order, each once.
  std::uint64_t number = 0;
  /// Stands for the call with all its arguments. If two members have started operations of the same number with different
  /// marks, they have made different calls: a conduit that notices completes the operation with `mismatch`.
  std::uint32_t mark = 0;
  const std::byte* in = nullptr;  ///< null: this member has no block there
  std::byte* out = nullptr;       ///< likewise
  /// Combines elements as the call asks for, on this member's processor; null if the operation combines nothing.
  CombineFunction combine = nullptr;
  void* context = nullptr;  ///< of `combine`
};

/// A conduit's collective operations on one team, on one member.
///
/// `refusal` and `cost` are pure: they give the same answers on all members, because each member chooses by them alone.
/// Threads: that of the endpoint. Calls may come inside the inbox's, so none of them calls the inbox.
/// Lifetime: ends after all of its operations have completed, or with the endpoint: then the conduit is not polled again,
///           and after the destructor the network touches no buffer of this member.
class NativeTeam {
 public:
  virtual ~NativeTeam() = default;

  /// Null: the conduit can do this. Otherwise why not, in a few words that live as long as the conduit, for `explain`.
  /// What it accepts for a block it accepts for every shorter one of whole elements.
  virtual const char* refusal(const NativeShape& shape) const noexcept = 0;
  /// How long it takes in nanoseconds, from the last member's start, as an estimate. The library takes the conduit if its
  /// own algorithm would take longer by `pace`.
  virtual std::uint64_t cost(const NativeShape& shape) const noexcept = 0;
  /// What messages of this conduit cost, for the estimate of the library's own algorithms. Pure, like `cost`.
  struct Pace {
    std::uint64_t latency = 2000;   ///< nanoseconds from a put with a signal to its notice
    std::uint64_t occupancy = 500;  ///< nanoseconds of a sender, for each message
    std::uint64_t kibibyte = 100;   ///< nanoseconds for each 1024 bytes
  };
  virtual Pace pace() const noexcept { return {}; }

  /// Starts this member's part of an operation that `refusal` accepts.
  ///
  /// Completion:  `in` may be overwritten, and `out` holds the result. It says nothing of other members.
  /// Lifetime:    the buffers until completion; the call itself only during `start`. Before a member's start nothing of its
  ///              buffers is read or written.
  /// Answers:     as of all posts; `retry` also while what the team needs is not ready. A loss is no `failed`: the
  ///              operation is posted, or retried until the library hears of the loss.
  /// Errors:      of the completion: peer_lost with the member's rank, mismatch, or another one, after which the team is
  ///              broken: the library tells the other members.
  virtual Post start(const NativeCall& call, Token token) noexcept = 0;
  /// A member is lost, or members disagree: this one gives up its operations from number `from` on, and starts no more.
  /// Each that is posted completes, with any status, in a later poll: as soon as the network uses its buffers no more. The
  /// others may never give theirs up, so it waits for nobody. May be called again, with a smaller number.
  virtual void cancel(std::uint64_t from) noexcept = 0;
  /// For the stall report: the members that have not started operation `number`, as far as this rank can know.
  virtual std::vector<Rank> missing(std::uint64_t) const { return {}; }
  /// As NativeBarrier::give_back: the team ends on all members, and nothing is under way.
  virtual void give_back() noexcept {}
};

/// Operations on whole teams that the conduit does better than a schedule of messages.
class NativeCollectives {
 public:
  virtual ~NativeCollectives() = default;
  /// Returns a barrier for a new team, or null if the team is to use messages.
  ///
  /// Every member calls it once for each team whose members this conduit serves. All members make their common teams in
  /// the same order. The call does not wait for other members. Either all members of a team get a barrier or all get
  /// null. `members` are ranks, in the order of the team.
  virtual std::unique_ptr<NativeBarrier> make_barrier(std::span<const Rank> members) = 0;

  /// What this rank's conduit offers beside barriers, as a number: a hash of the version, the device, and all else on which
  /// the answers of its NativeTeams depend. Members use them only if all of them give the same number. 0: nothing. Asked
  /// for before `connect`, and the answer does not change.
  virtual std::uint64_t offer() const noexcept { return 0; }
  /// Returns the collective operations of a new team of at least two members, or null if the team is to use the library's.
  ///
  /// Called as make_barrier, of teams whose other members this conduit serves. A null on one member makes all members of a
  /// team do without. Only of the team of all ranks, which is made without an exchange, all must get one or all null. `id` is
  /// the same on all members, and no other team of the job has it.
  virtual std::unique_ptr<NativeTeam> make_team(std::uint64_t /*id*/, std::span<const Rank> /*members*/) {
    return nullptr;
  }
};

/// How an endpoint sleeps until something arrives. The order of calls is: `arm` or `arm_descriptor`; one more poll; a
/// sleep, unless the poll found something; `disarm`.
class Waitable {
 public:
  virtual ~Waitable() = default;
  /// An arrival after this call ends a sleep, even a sleep that begins later than the arrival.
  virtual void arm() noexcept = 0;
  /// Arrivals need not end sleeps any more.
  virtual void disarm() noexcept = 0;
  /// Sleeps until an arrival, but not longer than `limit`, which is real time. May return early.
  virtual void sleep(std::chrono::nanoseconds limit) noexcept = 0;

  /// A descriptor that becomes readable at an arrival, so that an endpoint can sleep on two conduits at once. -1 if the
  /// conduit has none, or has none before the first `arm_descriptor`.
  virtual int descriptor() const noexcept { return -1; }
  /// As `arm`, for a sleep on the descriptor, which it returns. -1: there is none, and nothing is armed.
  ///
  /// While one thread sleeps on the descriptor, other threads of an endpoint with Threads::multiple may post and poll, one
  /// at a time. Their polls may take what made the descriptor readable: they wake the sleeper by other means.
  ///
  /// The descriptor may be readable without an arrival, but the next poll must end that: for a socket, the poll takes
  /// pending errors too. Otherwise no sleep would last.
  virtual int arm_descriptor() noexcept {
    const int fd = descriptor();
    if (fd >= 0) arm();
    return fd;
  }

  /// The time from now to the conduit's next timer, by Process::clock: for so long it needs no poll if nothing arrives.
  /// No sleep lasts longer. Zero or less asks for a poll at once: packets that were accepted wait for room, say. Called
  /// after the poll that follows arming, and without arming by a thread that polls while the program computes.
  virtual std::chrono::nanoseconds within() const noexcept { return std::chrono::nanoseconds::max(); }
};

/// A transport, as one endpoint sees it. Five functions make it complete. The capabilities are optional: the default is
/// null, and the reference layer does the same with packets.
///
/// Order:    `properties` and `address` are called before `connect`, posts and `poll` after it.
/// Threads:  only the endpoint's thread calls it, unless
///           properties().concurrent_posts. That thread may change between calls.
/// Time:     timers, time limits and backoffs read Process::clock (core/network.hpp).
/// Lifetime: ends before its Network, and before the memory of the segments. A forked child calls no function of a
///           conduit, not even its destructor.
class Conduit {
 public:
  virtual ~Conduit() = default;

  virtual const Properties& properties() const noexcept = 0;
  /// Returns the bytes that peers need to reach this endpoint. Not empty.
  virtual std::vector<std::byte> address() = 0;
  /// Gives the conduit the addresses of all ranks, indexed by rank. An empty address belongs to a rank that another
  /// conduit serves; this may be the endpoint's own rank. Called once. The span is valid during the call.
  ///
  /// Makes no connection that the first send can make: most pairs of ranks never communicate.
  /// Errors: the start of the job fails with the status. The conduit has logged the reason.
  virtual Status connect(std::span<const std::vector<std::byte>> addresses) = 0;
  /// Sends one packet, header then payload, to a peer or to this rank itself.
  ///
  /// The packet arrives exactly once. Packets may overtake each other.
  /// Requires:  the header begins at a multiple of 8 bytes, is a multiple of 8 bytes
  ///            long and has at most kMostHeader bytes; header and payload have at most
  ///            max_packet bytes together. The payload may be empty and is not aligned.
  /// Lifetime:  the header only during the call; the payload too, unless the answer is `posted`: then until completion.
  /// Errors:    peer_lost, network_failed.
  virtual Post send(Rank to, Bytes header, Bytes payload, Token token) noexcept = 0;
  /// Delivers packets and completions to the inbox and returns how many calls it made. Does not block.
  ///
  /// Delivers a bounded number of packets, so that a flood from one peer cannot keep the caller here.
  virtual int poll(Inbox& inbox) noexcept = 0;

  virtual NativeRma* rma() noexcept { return nullptr; }
  virtual NativeSignal* signal() noexcept { return nullptr; }
  virtual NativeVector* vector() noexcept { return nullptr; }
  virtual NativeAtomics* atomics() noexcept { return nullptr; }
  virtual NativeUpdates* updates() noexcept { return nullptr; }
  virtual NativeRedirects* redirects() noexcept { return nullptr; }
  virtual CrossMap* cross_map() noexcept { return nullptr; }
  virtual NativeCollectives* collectives() noexcept { return nullptr; }
  virtual Waitable* waitable() noexcept { return nullptr; }

  /// The clock of this rank: Process::clock, unless the conduit has a time of its own. Then waits, timers and backoffs of
  /// the endpoint read this one, and the sleeps of `waitable` are of its time. Asked for once, before `connect`.
  virtual std::optional<EndpointClock> clock() const noexcept { return std::nullopt; }
  /// What messages to a peer cost, if the conduit knows it. Otherwise a profile or the library's defaults say it.
  virtual std::optional<NetworkModel> network_model(Rank /*peer*/) const noexcept { return std::nullopt; }

  /// For a conduit with a progress thread: that thread offers each packet to the Aside first, if the packet arrives
  /// while the endpoint's owner neither polls nor sleeps. Called once, after `connect`.
  virtual void serve_aside(Aside) noexcept {}

  /// Checks whether the peers are alive, and calls Inbox::lost for those that are not. Called at most every 20 ms,
  /// while something waits and now and then by progress.
  virtual void check_peers(Inbox&) noexcept {}
  /// A peer is gone: the launcher says so, perhaps before the conduit has noticed, or the conduit itself has just
  /// called Inbox::lost. Every operation that is posted to the peer completes with peer_lost in the next poll, or as
  /// soon as the network no longer uses the caller's memory. May be called more than once.
  virtual void forget(Rank) noexcept {}
  /// Whether the connections that this endpoint has begun are made. The job's end asks until they are, for some seconds at
  /// most, and polls meanwhile; the peers poll too, and no rank ends before all have been asked. So a conduit whose network
  /// library cannot bear that a peer ends while it connects begins to finish its connections here.
  virtual bool settled() noexcept { return true; }
  /// One line about a peer for the stall report, such as queue lengths and the time since its last packet.
  virtual std::string state_of(Rank) const { return {}; }
  /// This range of the process's memory is about to be unmapped or freed: a segment's part of this rank, or a
  /// neighbour's part that is mapped here, perhaps by another conduit. Local buffers may have been in it, so a conduit
  /// that keeps registrations of local buffers ends those that overlap it. Every operation that used it is complete.
  /// Called on the conduits of the endpoint that released the segment, not on those of other ranks of the process.
  virtual void memory_ends(Bytes) noexcept {}
};

}  // namespace aqueduct::core
