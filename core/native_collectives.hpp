#pragma once

#include <aqueduct/coll_types.hpp>
#include <aqueduct/rank.hpp>

#include "core/native_barrier.hpp"
#include "core/post.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace aqueduct::core {

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

}  // namespace aqueduct::core
