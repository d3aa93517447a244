#pragma once

#include <aqueduct/atomics.hpp>
#include <aqueduct/rma.hpp>

#include "core/busy.hpp"
#include "core/endpoint_state.hpp"
#include "core/memory_patience.hpp"
#include "core/source_use.hpp"
#include "rma/wire.hpp"

#include <span>
#include <vector>

namespace aqueduct::rma {

struct WordSignal;

using aqueduct::detail::AtomicCall;
using aqueduct::detail::EndpointState;
using core::Op;
using core::Post;
using core::SegmentPart;

/// How a place in a segment is reached.
struct Access {
  Status status;                ///< ok, or why it is not reached
  std::byte* mapped = nullptr;  ///< its address, if it is mapped here
  SegmentPart* part = nullptr;  ///< otherwise `part->reach` says: native, or in packets
};

/// What a transfer of exactly one aligned word promises: docs/memory-model.md.
enum class WordPromise : std::uint8_t {
  whole,  ///< M-1 to M-3: such a word takes another way if the conduit's own operations do not treat it as one
  any,    ///< M-4: it may be a piece of something longer, so all bytes take the same way
};

/// What a layer above says of a transfer that is a part of an operation of its own.
struct PartOf {
  WordPromise words = WordPromise::whole;
  Op* group = nullptr;  ///< with Completion::group: that operation, in place of any group of the program
  /// Of a put: gets a part, which ends when the source may be written again, in place of what the options say.
  Op* source = nullptr;
  /// Of a put with a signal: nobody waits for its completion (core::NativeSignal::put_signal_unwaited).
  bool unwaited = false;
};

/// Puts, gets, atomics and signals on memory that is not mapped: by the conduit if it can, otherwise by the reference
/// layer, in pieces of one packet each, which the target answers.
///
/// A native post may wait for room in the conduit, any call for a free operation, and a put with SourceReuse::at_return
/// until its source is free. An immediate call is refused instead of waiting, unless a part of it has begun. Pieces of
/// the reference layer never wait: without a credit or room they are queued for their peer, and `advance` sends them.
///
/// What a fence holds back waits in a queue of its own, not begun (held.cpp).
class Transfers final : public core::Layer {
 public:
  explicit Transfers(EndpointState& state);

  /// The settings of this layer: who does atomics.
  static std::span<const SettingInfo> settings() noexcept;

  /// Finds out how a place is reached. The first use of a part maps it or imports its key.
  Access access(GlobalPtr<std::byte> at, std::uint64_t bytes) noexcept;

  /// How the caller learns of the end: by an Event of the operation's
  /// own, with the group that is named or else the open one, or because the call returns.
  enum class Completion : std::uint8_t { event, group, blocking };
  struct Begun {
    Status status;
    Event event;
  };
  Begun put(GlobalPtr<std::byte> to, const void* from, std::size_t bytes, Completion completion,
            const PutOptions& options, const Signal* signal = nullptr, const WordSignal* word = nullptr,
            const PartOf& part_of = {}) noexcept;
  /// The group that an `_nbi` operation joins: that of its options, or else the open one. Null: `given` belongs to
  /// another endpoint.
  Op* joined(Group* given) noexcept;
  /// The short path, for most transfers: one native post, and nothing to do when it
  /// ends. With `group` the operation joins that group, and may be over when this
  /// returns. Null: nothing happened; call `put`, `get` or `atomic` instead.
  Op* put_at_once(GlobalPtr<std::byte> to, const void* from, std::size_t bytes, Op* group) noexcept;
  Op* get_at_once(void* to, GlobalPtr<std::byte> from, std::size_t bytes, Op* group) noexcept;
  Op* atomic_at_once(GlobalPtr<std::byte> at, std::size_t bytes, const AtomicCall& call, Op* group) noexcept;
  /// The same for an atomic that processors do and that has no result: by the conduit's NativeUpdates.
  Op* update_at_once(GlobalPtr<std::byte> at, std::size_t bytes, const AtomicCall& call, Op* group) noexcept;
  /// The short path, and otherwise `put` and `get`, for a caller that has looked already: EndpointState::is_plain(), the
  /// source stays until completion, and no group is named.
  Event put_plainly_nb(GlobalPtr<std::byte> to, const void* from, std::size_t bytes,
                       const PutOptions& options) noexcept;
  Status put_plainly_nbi(GlobalPtr<std::byte> to, const void* from, std::size_t bytes,
                         const PutOptions& options) noexcept;
  Event get_plainly_nb(void* to, GlobalPtr<std::byte> from, std::size_t bytes,
                       const GetOptions& options) noexcept;
  Status get_plainly_nbi(void* to, GlobalPtr<std::byte> from, std::size_t bytes,
                         const GetOptions& options) noexcept;
  Begun get(void* to, GlobalPtr<std::byte> from, std::size_t bytes, Completion completion, bool immediate,
            Group* group = nullptr, const PartOf& part_of = {}) noexcept;
  /// `part_of`: the operation of a layer above, as PartOf::group.
  Begun atomic(GlobalPtr<std::byte> at, const AtomicCall& call, Completion completion,
               const AtomicOptions& options, Op* part_of = nullptr) noexcept;
  /// `part_of`: as PartOf::group.
  Begun signal(Rank to, Signal signal, Completion completion, bool immediate = false, Group* group = nullptr,
               Op* part_of = nullptr) noexcept;
  /// A signal of an operation `group` of a layer above. Goes as a put of no bytes if the conduit has puts with signals; `beside`
  /// is a place in memory of the same rank that it can put to. `received`: the receiver waits for it, so its completion need not
  /// mean that it has arrived.
  Begun signal_beside(GlobalPtr<std::byte> beside, Signal signal, Op& group, bool received = true) noexcept;
  /// A put that a signal to a word of the same rank follows. Checks the word before anything is begun.
  Begun put_word(GlobalPtr<std::byte> to, const void* from, std::size_t bytes, Completion completion,
                 const PutOptions& options, const SignalWord& word) noexcept;

  // For the layers above, whose operations consist of several of these.

  /// An operation with the initiator's part. The completion may become blocking. `part_of`: as PartOf::group.
  ///
  /// A fence counts the operation from here on, so nothing may wait any more before progress can carry it: a fence in
  /// another thread, or in a continuation that runs in the wait, would hold back later operations behind it, and the wait
  /// might be for what these take.
  /// Errors: in_handler, refused, invalid_argument (a group of another endpoint).
  Result<Op*> begin(const core::OpKind& kind, Rank peer, Completion& completion, bool immediate,
                    Group* group = nullptr, Op* part_of = nullptr) noexcept;
  /// Ends the initiator's part if the caller `holds` it, and returns or waits as the completion says. If nothing was
  /// begun, the operation is undone and `begun` is returned.
  Begun finish(Op& op, Status begun, Completion completion, bool holds) noexcept;
  /// Takes a use of the source buffer as the options say, for an operation that is to begin. May wait, so it comes before
  /// `begin`. With at_completion, and if the group tells when the buffer is free, there is none.
  Status take_source(Rank peer, const PutOptions& options, core::SourceUse& source) noexcept;
  /// Sets op.source to the use that was taken, or to the group's.
  static void give_source(Op& op, const PutOptions& options, const core::SourceUse& source) noexcept;
  /// Imports the key of a part, once. Returns whether there is one, so that native operations reach the part.
  Result<bool> has_key(SegmentPart& part, Rank rank) noexcept {
    return has_key(part, rank, state_.conduit(rank));
  }
  /// For an operation's `ended`: continues with a signal to its peer. Returns true if the counter was raised at once,
  /// false if the operation now waits for the signal's answer.
  bool follow_with_signal(Op& op, Signal signal) noexcept;
  /// The conduit's answer to the latest operation that was `refused` because there was no room.
  const Post& latest_refusal() const noexcept { return latest_refusal_; }
  /// Before a call that may be refused without asking the conduit.
  void forget_refusal() noexcept { latest_refusal_ = Post::retry(); }
  /// Puts a fence behind all that has begun on the peer: see include/aqueduct/order.hpp.
  void fence(Rank peer) noexcept;
  /// Waits until no fence holds back an operation on the peer that begins now.
  /// Errors: refused (`immediate`), and those of wait_until.
  Status wait_for_turn(Rank peer, bool immediate) noexcept;
  /// Raises a peer's counter in place. False: it is not mapped here.
  bool raise_mapped(Rank to, Signal signal) noexcept;
  /// Called at reads of this rank's own memory if other ranks need its processor to change it: makes progress, but at
  /// most once a microsecond.
  void let_others_in() noexcept;

  // core::Layer
  void advance() noexcept override;
  void peer_lost(Rank peer) noexcept override;
  void describe(std::string& text, Rank peer) const override;

 private:
  struct Queue {
    Op* head = nullptr;
    Op* tail = nullptr;
    core::MemoryPatience patience = core::MemoryPatience();  ///< of its head
  };
  friend struct ReferenceTarget;

  /// Refuses a null pointer to bytes of this rank's, which would end the process, or fail at the peer.
  [[gnu::cold]] Begun refuse_null(const char* what, Rank peer, std::size_t bytes) noexcept;
  // The conduit's own operations (native.cpp).
  Status put_native(Op& op, const SegmentPart& part, GlobalPtr<std::byte> to, core::Bytes from, bool inject,
                    bool immediate) noexcept;
  Status get_native(Op& op, const SegmentPart& part, GlobalPtr<std::byte> from, core::MutableBytes to,
                    bool immediate) noexcept;
  Status atomic_native(Op& op, const SegmentPart& part, GlobalPtr<std::byte> at, const AtomicCall& call,
                       bool immediate) noexcept;
  Result<bool> has_key(SegmentPart& part, Rank rank, core::Conduit& conduit) noexcept;
  // Words that the conduit's own operations do not treat as one (words.cpp).
  core::WholeWords whole_words(const core::Conduit& conduit) const noexcept;
  bool network_does(AtomicOp op, std::size_t bytes) const noexcept;
  Begun store_word(GlobalPtr<std::byte> to, const void* from, std::size_t bytes, Completion completion,
                   const PutOptions& options, Op* part_of) noexcept;
  Begun load_word(void* to, GlobalPtr<std::byte> from, std::size_t bytes, Completion completion,
                  bool immediate, Group* group, Op* part_of) noexcept;
  enum class Looked : bool { no, yes };  ///< yes: nothing hinders (EndpointState::is_plain)
  template <Looked kLooked>
  Op* try_put(GlobalPtr<std::byte> to, const void* from, std::size_t bytes, Op* group) noexcept;
  template <Looked kLooked>
  Op* try_get(void* to, GlobalPtr<std::byte> from, std::size_t bytes, Op* group) noexcept;
  template <class Begin>
  Op* at_once(const core::OpKind& kind, GlobalPtr<std::byte> at, std::uint64_t bytes, Op* group,
              std::uint64_t& counter, const Begin& begin) noexcept;
  [[gnu::cold]] Op* put_in_order(const SegmentPart& part, GlobalPtr<std::byte> to, const void* from,
                                 std::size_t bytes, Op* group) noexcept;
  template <class Try>
  Status post(Op& op, bool immediate, const Try& attempt) noexcept;
  // Immediate puts with a signal to mapped memory (signal_words.cpp).
  bool follows_at_once(Rank to, const Signal* signal, const WordSignal* word) noexcept;
  Begun put_or_refuse(std::byte* mapped, core::Bytes from, Rank to, Completion completion,
                      const PutOptions& options, const Signal* signal, const WordSignal* word) noexcept;
  // Operations that a fence holds back (held.cpp).
  /// The result of an attempt to begin one.
  ///
  /// later       no room, or the fence still holds it back
  /// here        all of it has begun, or it has failed: the initiator's part is left to be ended
  /// in_packets  the reference layer takes over
  enum class Begins : std::uint8_t { later, here, in_packets };
  bool held(Rank peer, core::PeerOrder::Next next) noexcept;
  void hold(Op& op) noexcept;
  void advance_held() noexcept;
  void drop_held(Rank peer) noexcept;
  void launch_held(Op& op) noexcept;
  static bool goes_native(const Op& op, const SegmentPart& part) noexcept;
  Begins begin_held(Op& op) noexcept;
  Begins begin_held_put(Op& op, const SegmentPart& part) noexcept;
  Begins begin_held_atomic(Op& op, const Access& access) noexcept;
  bool is_of_network(const AtomicCall& call) const noexcept;
  // The reference layer (reference.cpp).
  Status launch(Op& op, bool immediate) noexcept;
  bool fits_with_signal(const Op& op) const noexcept;
  /// What follows the bytes of a put is sent when they are in place.
  void follow_after_bytes(Op& op) noexcept;
  /// Sends packets. `retry`: there is no room for the next one.
  Post push(Op& op) noexcept;
  Post push_piece(Op& op) noexcept;
  void all_begun(Op& op) noexcept;
  /// Whether a queued operation, which the conduit has refused again, is given up because this process gets no memory.
  bool gives_up_without_memory(core::MemoryPatience& patience, Op& op, const Post& refused) noexcept;
  static bool then_signal(core::Layer& layer, Op& op) noexcept;

  // Signals to words (signal_words.cpp).
  Status check_word(const SignalWord& word) noexcept;
  /// Whether the network does the update, because it does the job's atomics on this word.
  const SegmentPart* by_network(Rank to, const WordSignal& word) const noexcept;
  /// Updates a word that has no bytes before it, or whose bytes are in place.
  Begun update_word(Rank to, const WordSignal& word, Completion completion,
                    const PutOptions& options) noexcept;
  /// The word's part, if the conduit's own put can carry the signal; otherwise null.
  const SegmentPart* native_word(Rank to, const WordSignal& word) const noexcept;
  /// Whether a put and its signal to a word go in one packet of the reference layer.
  bool fits_with_word(Rank to, std::size_t bytes, const WordSignal& word) const noexcept;
  /// As follow_with_signal, for a signal to a word.
  bool follow_with_word(Op& op, const WordSignal& word) noexcept;
  static bool then_word(core::Layer& layer, Op& op) noexcept;
  Post push_word(Op& op) noexcept;

  EndpointState& state_;
  am::Messages& messages_;
  std::vector<Queue> queues_;     // [rank] operations with packets still to send
  std::vector<Rank> waiting_on_;  // the ranks whose queue is not empty
  core::Busy busy_;               // set while there are any
  std::vector<Queue> held_;       // [rank] operations that a fence holds back, in order
  std::vector<Rank> held_for_;    // the ranks for which there are any
  core::Busy held_busy_;          // set while there are any
  Post latest_refusal_ = Post::retry();
  core::Clock::time_point let_in_at_{};
};

}  // namespace aqueduct::rma
