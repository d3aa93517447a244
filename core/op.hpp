#pragma once

#include <aqueduct/endpoint.hpp>
#include <aqueduct/event.hpp>

#include "core/conduit.hpp"
#include "core/guard.hpp"
#include "core/tokens.hpp"

#include <cstddef>
#include <cstdint>
#include <new>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace aqueduct::core {

class Layer;
class OpPool;
class PeerOrder;
struct Op;

/// A kind of operations, such as a put; the layer that has them defines it. A constant: operations point to it.
struct OpKind {
  const char* what;  ///< for the stall report: "a put"
  /// The number of the AM handler whose messages end parts of such an operation; 0: no handler does. An answer to
  /// another handler is ignored, so that a faulty peer cannot end, say, a get without data.
  std::uint16_t answered_by = 0;
  /// Adds details to `what`. Null: there are none.
  void (*describe)(const Op&, std::string&) = nullptr;
  /// Whether a fence covers such operations: it holds back later ones until these are over.
  bool fenced = false;
};

/// An access region, or a layer's own bundle of operations.
inline constexpr OpKind kGroup{"a group of operations"};
/// The use of a source buffer: ends when the caller may write to the buffer again.
inline constexpr OpKind kSource{"the end of use of a source buffer"};

/// An operation in flight. It ends when its last part ends. A part is a packet, a native post, or a member of a group.
///
/// The initiator holds one more part while it begins the others. Otherwise the operation could end before all of it has
/// begun: a post may be done at once, and a wait for room makes progress, which ends parts.
struct Op : aqueduct::detail::OpFace {
  /// Called when the last part has ended, also after a failure: see `op.outcome`. Returns true if the operation is
  /// over. Returns false if the layer continues with it, such as with a signal after the bytes. The operation then has
  /// one part, which the layer ends.
  using Ended = bool (*)(Layer&, Op&) noexcept;
  static constexpr std::size_t kPayloadBytes = 96;

  const OpKind* kind = nullptr;
  std::uint32_t index = 0;
  std::uint32_t generation = 0;  ///< raised at each release, so that a late completion matches no operation
  std::uint32_t parts = 0;       ///< parts that have not ended
  std::uint32_t sends = 0;       ///< of these: packets whose payload a conduit still reads
  std::uint32_t answers = 0;     ///< of these: packets that the peer must answer; surplus answers are ignored
  bool is_explicit = false;      ///< the caller has an Event for it
  bool abandoned = false;        ///< no Event holds it any more: it was dropped, or SharedEvents hold it
  bool by_packets = false;       ///< in packets: peer_lost must end it, since no conduit will
  bool reads_more = false;       ///< packets that read the caller's buffer are still to be sent
  std::uint16_t epoch =
      0;  ///< fences: the epoch in which it is counted; 0: it is not, as at the end (core/peer_order.hpp)
  bool keeps_order = false;  ///< fences: the network keeps its order
  Status outcome;
  Rank peer = kNoRank;
  Op* group =
      nullptr;  ///< the group, or continuation, of which this is a part; then there is no Event for it
  Op* source =
      nullptr;         ///< ends as soon as the caller's buffer is free; a group's one serves many operations
  Op* next = nullptr;  ///< in the pool's free list, or in a layer's list of work
  OpPool* pool = nullptr;

  Ended ended = nullptr;   ///< null: the operation is over when its last part ends
  Layer* layer = nullptr;  ///< the argument of `ended`

  /// The layer's own data of the operation: the same aggregate T for all operations of a kind. It is not initialised: a
  /// new operation finds the data of the previous one.
  template <class T>
  T& payload() noexcept {
    static_assert(std::is_aggregate_v<T> && std::is_trivially_destructible_v<T>);
    static_assert(sizeof(T) <= kPayloadBytes && alignof(T) <= alignof(std::uint64_t));
    return *std::launder(reinterpret_cast<T*>(payload_));
  }
  template <class T>
  const T& payload() const noexcept {
    return const_cast<Op*>(this)->payload<T>();
  }

 private:
  alignas(std::uint64_t) std::byte payload_[kPayloadBytes];
};

// include/aqueduct/event.hpp says how much memory an Event takes.
static_assert(sizeof(Op) <= 200);

/// The operations of one endpoint. Their addresses are reserved at the start and take memory at their first use: a
/// program may hold hundreds of thousands of Events, but few programs do.
///
/// Explicit operations (those with an Event) and internal ones have separate room.
/// An explicit operation is free only when the caller gives its Event up, which it
/// may never do. Internal ones end by themselves, so the library can wait for one.
class OpPool {
 public:
  /// Reserves room for `capacity` explicit operations, or for fewer if the system does not give that much address
  /// space, and for as many internal ones, up to kMostInternal. Throws std::bad_alloc if the system gives none at all.
  /// `owner` tells whether this is a forked child's copy, in which no operation ends; it may be null.
  explicit OpPool(std::uint32_t capacity, const Endpoint* owner = nullptr);
  ~OpPool();
  OpPool(const OpPool&) = delete;
  OpPool& operator=(const OpPool&) = delete;

  /// Chosen: more members of groups in flight at once are not faster.
  static constexpr std::uint32_t kMostInternal = 4096;
  /// The number of explicit operations for which there is address space.
  std::uint32_t capacity() const noexcept { return capacity_; }

  /// An operation with one part, the initiator's. Null: there is no room. A record comes back as a new one is (release), so
  /// that little is left to do here.
  Op* acquire(const OpKind& kind, Rank peer, bool is_explicit) noexcept {
    Op*& free = is_explicit ? free_explicit_ : free_internal_;
    Op* const op = free != nullptr ? free : make(is_explicit);
    if (op == nullptr) [[unlikely]]
      return nullptr;
    begin(*op, free, kind, peer);
    if (order_ != nullptr) [[unlikely]]
      count(*op);
    return op;
  }
  /// Whether there is an internal operation, free or in flight. If not, acquire failed for want of memory, and to wait for
  /// one that becomes free would be in vain.
  bool has_internal() const noexcept { return internal_.fresh != 0; }
  /// Whether acquire_at_once finds an explicit operation.
  bool has_one_at_once() const noexcept { return free_explicit_ != nullptr; }
  /// An explicit operation, by the fewest instructions. Requires: has_one_at_once(), and fences count no operations.
  Op& acquire_at_once(const OpKind& kind, Rank peer) noexcept {
    Op& op = *free_explicit_;
    begin(op, free_explicit_, kind, peer);
    return op;
  }
  /// Returns an operation that has not begun, as if it had not been acquired.
  void take_back(Op& op) noexcept {
    op.parts = 0;
    if (op.epoch != 0) [[unlikely]]
      uncount(op);
    release(op);
  }
  /// Ends one part; the last one ends the operation.
  void part_ended(Op& op, Status status) noexcept;
  /// The caller's buffer is free: ends the source operation, if there is one.
  void source_free(Op& op, Status status) noexcept;
  /// The outcome of a finished operation, which is then free. For the holder of its Event.
  Status collect(Op& op) noexcept;
  /// The Event of an unfinished operation is dropped: the operation is free when it ends.
  void abandon(Op& op) noexcept;
  /// The Event of an operation becomes a SharedEvent. From now on `drop_holder` frees the operation.
  static void share(Op& op) noexcept;
  /// A SharedEvent is dropped, or its operation has ended. The last holder gives the record back. Any thread may be
  /// this, so the record goes to a list of its own, from which the endpoint's thread takes it.
  void drop_holder(Op& op) noexcept;
  /// The members of a group in flight become members of another one: the group's memory is about to go.
  void move_members(const Op& from_group, Op& to_group) noexcept;

  /// The token that completions and replies carry for an operation. Never 0.
  static Token token(const Op& op) noexcept { return tokens::of_operation(op.generation, op.index); }
  /// The operation with that token; null if it is over.
  Op* find(Token token) noexcept;

  /// Ends with `status` every operation on `peer` that only packets carried: the peer will not answer.
  void fail_packets(Rank peer, Status status) noexcept;
  /// Ends every explicit operation at once, though its parts have
  /// not ended. Only for a forked child, where nothing arrives.
  void end_all(Status status) noexcept;
  bool in_child() const noexcept { return owner_ != nullptr && owner_->ranks() == 0; }
  /// Events are collected and dropped under this lock from now on, since the program does that without an endpoint.
  void guard_by(Guard& guard) noexcept { guard_ = &guard; }
  /// The lock; null if there is none, and in a forked child.
  Guard* guard() const noexcept { return guard_ != nullptr && !in_child() ? guard_ : nullptr; }
  std::uint32_t in_flight() const noexcept { return in_flight_; }
  const Endpoint* owner() const noexcept { return owner_; }
  /// Counts operations for fences from now on, those in flight included.
  void count_in(PeerOrder& order) noexcept;
  bool counts() const noexcept { return order_ != nullptr; }
  /// For the stall report: the number of operations in flight to each of the first eight peers that are found.
  std::vector<std::pair<Rank, std::uint32_t>> busiest() const;

 private:
  /// A range of the reserved addresses. It is used from its start.
  struct Range {
    Op* ops = nullptr;
    std::uint32_t capacity = 0;
    std::uint32_t usable = 0;  ///< number of the first ones that may be accessed
    std::uint32_t fresh = 0;   ///< number of the first ones that have been used, so are constructed
  };

  /// Takes `op` off its list, of which it is the first.
  void begin(Op& op, Op*& list, const OpKind& kind, Rank peer) noexcept {
    list = op.next;
    op.done.store(0, std::memory_order_relaxed);
    op.parts = 1;
    op.kind = &kind;
    op.peer = peer;
    ++in_flight_;
  }
  /// Constructs an operation that has never been used. Null: there is no room.
  Op* make(bool is_explicit) noexcept;
  bool extend(Range& range) noexcept;
  void complete(Op& op) noexcept;
  [[gnu::cold]] void count(Op& op) noexcept;
  [[gnu::cold]] void uncount(Op& op) noexcept;
  void release(Op& op) noexcept;
  bool take_returned() noexcept;

  const Endpoint* owner_;
  Guard* guard_ = nullptr;
  Op* free_explicit_ = nullptr;
  Op* free_internal_ = nullptr;
  std::uint32_t in_flight_ = 0;
  std::uint32_t capacity_;
  Range explicit_;  // indices 0 to capacity - 1
  Range internal_;  // indices from capacity on
  std::size_t reserved_ = 0;
  std::atomic<Op*> returned_{nullptr};  ///< records that the last holder has given back, on whatever thread
  PeerOrder* order_ = nullptr;          ///< null until the first fence
};

}  // namespace aqueduct::core
