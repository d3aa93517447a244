#pragma once

#include <aqueduct/endpoint.hpp>
#include <aqueduct/event.hpp>

#include "core/conduit.hpp"
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
struct Op;

/// What a layer says of a kind of its operations. Constants: an operation points to its kind.
struct OpKind {
  const char* what;  ///< for the report of a stall: "a put"
  /// Number of the AM handler whose messages end parts of such an operation; 0: no message does. A peer's answer of another kind is
  /// ignored.
  std::uint16_t answered_by = 0;
  /// Adds details to `what`. Null: there are none.
  void (*describe)(const Op&, std::string&) = nullptr;
};

/// An access region, or a layer's own bundle of operations.
inline constexpr OpKind kGroup{"a group of operations"};
/// The use of a source buffer: ends when the caller may write to the buffer again.
inline constexpr OpKind kSource{"the end of use of a source buffer"};

/// An operation in flight. It is over when all its parts are; parts are packets, native posts, or whole
/// operations of a group, and one more that its initiator holds while it begins the others.
struct Op : aqueduct::detail::OpFace {
  /// Called when the last part has ended, well or badly (`op.outcome` says). True: the operation is over. False: the layer
  /// goes on with it; it holds one part now, which it ends itself.
  using Ended = bool (*)(Layer&, Op&) noexcept;
  static constexpr std::size_t kPayloadBytes = 96;

  const OpKind* kind = nullptr;
  std::uint32_t index = 0;
  std::uint32_t generation = 0;  ///< raised at each release, so that a late completion finds nobody
  std::uint32_t parts = 0;       ///< still to end
  std::uint32_t sends = 0;       ///< of these: packets whose payload a conduit still reads
  std::uint32_t answers = 0;  ///< of these: packets that the peer has to answer; a word too many ends nothing
  bool is_explicit = false;   ///< an Event of the caller's own refers to it
  bool abandoned = false;     ///< that Event is gone
  bool by_packets = false;    ///< the reference layer carries it: nobody but us notices a lost peer
  bool reads_more = false;    ///< packets that read the caller's buffer are still to be sent
  Status outcome;
  Rank peer = kNoRank;
  Op* group = nullptr;   ///< told when this ends, which then needs no Event
  Op* source = nullptr;  ///< ends as soon as the caller's buffer is free
  Op* next = nullptr;    ///< in the pool's free list, or in a layer's list of work
  OpPool* pool = nullptr;

  Ended ended = nullptr;   ///< null: nothing is left to do
  Layer* layer = nullptr;  ///< whose hook that is

  /// What the layer keeps with the operation: always the same aggregate for one kind. Its fields are what the layer last set.
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

// What event.hpp says that an Event costs.
static_assert(sizeof(Op) <= 200);

/// The operations of one endpoint, in address space that is reserved at the start and becomes memory as it is first used:
/// a program may hold Events by the hundred thousand, and few do.
///
/// Explicit operations (those the caller holds an Event of) and internal ones have room of their own: internal
/// ones always end by themselves, so waiting for one to come free is safe whatever the caller holds.
class OpPool {
 public:
  /// Room for `capacity` explicit operations, or for fewer if the system does not give that much address space, and for
  /// as many internal ones, up to kMostInternal. Throws std::bad_alloc where there is none at all. `owner` is asked
  /// whether this is a forked child's copy, where nothing ends any more; null: it is not.
  explicit OpPool(std::uint32_t capacity, const Endpoint* owner = nullptr);
  ~OpPool();
  OpPool(const OpPool&) = delete;
  OpPool& operator=(const OpPool&) = delete;

  /// Chosen: more of a group on their way at once make none of them faster.
  static constexpr std::uint32_t kMostInternal = 4096;
  /// How many explicit operations there is address space for.
  std::uint32_t capacity() const noexcept { return capacity_; }

  /// An operation with one part (the initiator's), or null when there is no room.
  Op* acquire(const OpKind& kind, Rank peer, bool is_explicit) noexcept {
    Op*& free = is_explicit ? free_explicit_ : free_internal_;
    Op* const op = free != nullptr ? free : make(is_explicit);
    if (op == nullptr) [[unlikely]]
      return nullptr;
    free = op->next;
    op->done.store(0, std::memory_order_relaxed);
    op->parts = 1;
    op->sends = 0;
    op->answers = 0;
    op->kind = &kind;
    op->is_explicit = is_explicit;
    op->abandoned = false;
    op->by_packets = false;
    op->reads_more = false;
    op->outcome = {};
    op->peer = peer;
    op->group = nullptr;
    op->source = nullptr;
    op->next = nullptr;
    op->ended = nullptr;
    ++in_flight_;
    return op;
  }
  /// Of one that has not begun: as if it had not been acquired.
  void take_back(Op& op) noexcept {
    op.parts = 0;
    release(op);
  }
  /// Ends one part; the last one ends the operation.
  void part_ended(Op& op, Status status) noexcept;
  /// The caller's buffer is free: ends the source operation, if there is one.
  void source_free(Op& op, Status status) noexcept;
  /// For the holder of an Event.
  Status collect(Op& op) noexcept;
  void abandon(Op& op) noexcept;

  /// What a completion or a reply carries for an operation. 0 is never one.
  static Token token(const Op& op) noexcept { return tokens::of_operation(op.generation, op.index); }
  /// Null when that operation is over.
  Op* find(Token token) noexcept;

  /// Ends, with `status`, the parts of every operation on `peer` that only packets carried.
  void fail_packets(Rank peer, Status status) noexcept;
  /// Ends every operation whose Event somebody holds. Their parts are never told: only where nothing arrives any more.
  void end_all(Status status) noexcept;
  bool in_child() const noexcept { return owner_ != nullptr && owner_->ranks() == 0; }
  std::uint32_t in_flight() const noexcept { return in_flight_; }
  /// The longest-waiting facts for a stall report: how many operations go to each of the first few peers.
  std::vector<std::pair<Rank, std::uint32_t>> busiest() const;

 private:
  /// A part of the reserved addresses, used from its start on.
  struct Range {
    Op* ops = nullptr;
    std::uint32_t capacity = 0;
    std::uint32_t usable = 0;  ///< of these have memory
    std::uint32_t fresh = 0;   ///< of these have been used: constructed
  };

  /// One that has never been used, or null.
  Op* make(bool is_explicit) noexcept;
  bool extend(Range& range) noexcept;
  void complete(Op& op) noexcept;
  void release(Op& op) noexcept;

  const Endpoint* owner_;
  Op* free_explicit_ = nullptr;
  Op* free_internal_ = nullptr;
  std::uint32_t in_flight_ = 0;
  std::uint32_t capacity_;
  Range explicit_;  // indices [0, capacity)
  Range internal_;  // and those after them
  std::size_t reserved_ = 0;
};

}  // namespace aqueduct::core
