#pragma once

#include <aqueduct/rma.hpp>

#include "core/busy.hpp"
#include "core/endpoint_state.hpp"
#include "core/source_use.hpp"
#include "rma/wire.hpp"

#include <vector>

namespace aqueduct::rma {

using aqueduct::detail::AtomicCall;
using aqueduct::detail::EndpointState;
using core::Op;
using core::Part;
using core::Post;

/// A place in some segment, and how it is reached.
struct Access {
  Status status;                ///< why it is nothing
  std::byte* mapped = nullptr;  ///< plain instructions reach it here
  Part* part = nullptr;         ///< else: native (`part->reach`) or by packets
};

/// Puts, gets, atomics and signals that plain instructions cannot do: by the conduit where it can, else by the
/// reference layer, in pieces of one packet, each answered.
///
/// Nothing waits for room here: what has no room is queued per peer, and goes on with progress.
class Transfers final : public core::Layer {
 public:
  explicit Transfers(EndpointState& state);

  /// Finds a place; maps a neighbour's segment or imports a key at the first use.
  Access access(GlobalPtr<std::byte> at, std::uint64_t bytes) noexcept;

  /// How an operation is to end: with an Event of its own, in the group, or before the call returns.
  enum class Form : std::uint8_t { event, group, blocking };
  struct Begun {
    Status status;
    Event event;
  };
  Begun put(GlobalPtr<std::byte> to, const void* from, std::size_t bytes, Form form,
            const PutOptions& options, const Signal* signal = nullptr) noexcept;
  /// The short way of most: one post of the conduit's, and nothing to do when it ends. `group`: of the implicit ones,
  /// and the operation returned may be over already. Null, and nothing has happened: `put`, `get` or `atomic` does it.
  Op* put_at_once(GlobalPtr<std::byte> to, const void* from, std::size_t bytes, bool group) noexcept;
  Op* get_at_once(void* to, GlobalPtr<std::byte> from, std::size_t bytes, bool group) noexcept;
  Op* atomic_at_once(GlobalPtr<std::byte> at, std::size_t bytes, const AtomicCall& call, bool group) noexcept;
  Begun get(void* to, GlobalPtr<std::byte> from, std::size_t bytes, Form form, bool immediate) noexcept;
  Begun atomic(GlobalPtr<std::byte> at, const AtomicCall& call, Form form, bool immediate) noexcept;
  Begun signal(Rank to, Signal signal, Form form) noexcept;

  // For the layers above, whose operations are of many of these.

  /// An operation with the initiator's part. Errors: in_handler, refused. The form may become blocking.
  Result<Op*> begin(const core::OpKind& kind, Rank peer, Form& form, bool immediate) noexcept;
  /// Ends the initiator's part if it `holds` it, and answers as the form wants. An operation of which nothing was begun
  /// leaves no trace.
  Begun finish(Op& op, Status begun, Form form, bool holds) noexcept;
  /// Takes a use of the source buffer as the options say, and sets op.source to it. None is taken at_completion.
  Status take_source(Op& op, Rank peer, const PutOptions& options, core::SourceUse& source) noexcept;
  /// Imports the key of a part, once. Whether there is one: the conduit's own operations reach it then.
  Result<bool> has_key(Part& part, Rank rank) noexcept { return has_key(part, rank, state_.conduit(rank)); }
  /// From an operation's `ended`: goes on with a signal to its peer. False: the signal ends the operation; true: the
  /// counter was raised at once.
  bool follow_with_signal(Op& op, Signal signal) noexcept;
  /// Raises a counter where it lies, if it is mapped here.
  bool raise_mapped(Rank to, Signal signal) noexcept;

  // core::Layer
  void advance() noexcept override;
  void peer_lost(Rank peer) noexcept override;
  void describe(std::string& text, Rank peer) const override;

 private:
  struct Queue {
    Op* head = nullptr;
    Op* tail = nullptr;
  };
  friend struct ReferenceTarget;

  // The conduit's own operations (native.cpp).
  Status put_native(Op& op, const Part& part, GlobalPtr<std::byte> to, core::Bytes from, bool inject,
                    bool immediate) noexcept;
  Status get_native(Op& op, const Part& part, GlobalPtr<std::byte> from, core::MutableBytes to,
                    bool immediate) noexcept;
  Status atomic_native(Op& op, const Part& part, GlobalPtr<std::byte> at, const AtomicCall& call,
                       bool immediate) noexcept;
  static Result<bool> has_key(Part& part, Rank rank, core::Conduit& conduit) noexcept;
  template <class Begin>
  Op* at_once(const core::OpKind& kind, GlobalPtr<std::byte> at, std::uint64_t bytes, bool group,
              std::uint64_t& counter, const Begin& begin) noexcept;
  template <class Try>
  Status post(Op& op, bool immediate, const Try& attempt) noexcept;
  /// At a look at my own memory, where others need my processor for theirs: makes progress now and then.
  void let_others_in() noexcept;
  // The reference layer (reference.cpp).
  Status launch(Op& op, bool immediate) noexcept;
  bool push(Op& op) noexcept;
  Post push_piece(Op& op) noexcept;
  void all_begun(Op& op) noexcept;
  static bool then_signal(core::Layer& layer, Op& op) noexcept;

  EndpointState& state_;
  am::Messages& messages_;
  std::vector<Queue> queues_;     // [rank]
  std::vector<Rank> waiting_on_;  // the ranks whose queue is not empty
  core::Busy busy_;               // while there are any
  core::Clock::time_point let_in_at_{};
};

}  // namespace aqueduct::rma
