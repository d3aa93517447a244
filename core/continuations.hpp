#pragma once

#include <aqueduct/continuation.hpp>

#include "core/busy.hpp"
#include "core/layer.hpp"
#include "core/op.hpp"

#include <cstdint>

namespace aqueduct::detail {
struct EndpointState;
}

namespace aqueduct::core {

class Continuations;
using aqueduct::detail::Continue;
using aqueduct::detail::EndpointState;

/// What runs when an operation has ended. It is a group whose only member is this operation.
inline constexpr OpKind kContinuation{"a continuation"};

/// The payload of a continuation whose record is the pool's.
struct Continued {
  Continue run;
  alignas(std::uint64_t) std::byte body[aqueduct::detail::kContinuationBytes];
};

/// A continuation in the caller's memory.
struct Suspension : Op {
  Continuations* all = nullptr;  ///< null: the endpoint has ended
  Op* of = nullptr;              ///< the operation; null: it is over, and this is queued
  Continue run = nullptr;
  void* who = nullptr;
  aqueduct::detail::Suspended* place = nullptr;
  Suspension* later = nullptr;  ///< the endpoint's suspensions
  Suspension* earlier = nullptr;
};

/// The continuations of an endpoint. Those whose operation is over are queued until the end of a round of progress.
///
/// It is a layer only for Op::ended: it runs outside of `advance`, where operations may begin.
class Continuations final : public Layer {
 public:
  explicit Continuations(EndpointState& state) noexcept;

  Status then(Event& event, Continue run, const void* body, std::size_t bytes) noexcept;
  void suspend(Event& event, Suspension& suspension) noexcept;
  /// The suspended caller goes away: its operation finishes unobserved. Takes the endpoint's lock: no call on the
  /// endpoint need surround this.
  void forget(Suspension& suspension) noexcept;
  /// While there is one, this thread begins operations as in a continuation, and no other continuation runs. There is one
  /// at a time: another thread that may get in while this one waits for its own operation asks `has_turn` first.
  class Turn {
   public:
    /// Requires: has_turn() is false.
    explicit Turn(EndpointState& state) noexcept;
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;
    ~Turn();

   private:
    EndpointState& state_;
  };
  /// Whether there is a Turn, of whichever thread.
  bool has_turn() const noexcept { return running_; }
  /// While there is one, no continuation runs: the caller has begun an operation that nothing carries yet, for which a
  /// fence in a continuation would wait. The waits under it must not need continuations to end.
  class Pause {
   public:
    explicit Pause(Continuations& all) noexcept : all_(all) { ++all_.paused_; }
    Pause(const Pause&) = delete;
    Pause& operator=(const Pause&) = delete;
    ~Pause() { --all_.paused_; }

   private:
    Continuations& all_;
  };
  /// Runs what was queued before the call. Returns how many have run. Does nothing inside itself.
  int run() noexcept;
  /// The endpoint ends: nothing more runs.
  void close() noexcept;
  /// Whether some wait to run, which counts as queued work of a layer.
  bool queued() const noexcept { return queued_ != 0; }

 private:
  void after(Event& event, Op& record) noexcept;
  void push(Op& record) noexcept;
  void run_one(Op& record) noexcept;
  void unlink(Suspension& suspension) noexcept;
  static bool operation_over(Layer& layer, Op& record) noexcept;

  EndpointState& state_;
  Busy busy_;
  Op* first_ = nullptr;
  Op* last_ = nullptr;
  std::uint32_t queued_ = 0;
  std::uint32_t paused_ = 0;  ///< number of Pauses
  bool running_ = false;      ///< there is a Turn
  Suspension* suspensions_ = nullptr;
};

}  // namespace aqueduct::core
