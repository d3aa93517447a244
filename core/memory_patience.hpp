#pragma once

#include <aqueduct/rank.hpp>

#include "core/clock.hpp"
#include "core/conduit.hpp"
#include "core/memory_probe.hpp"

#include <chrono>
#include <cstdint>

namespace aqueduct::detail {
struct EndpointState;
}

namespace aqueduct::core {

/// Bounds the time for which a post is tried again while this process gets no memory.
///
/// A conduit answers `retry` if a queue is full, and also if its library finds no memory, which many libraries do not
/// tell apart. Without a limit a rank that never gets memory again would try for ever. One object watches one wait for
/// room, or one queue of posts that wait for it.
class MemoryPatience {
 public:
  /// Chosen: programs that free memory again do so sooner.
  static constexpr std::chrono::seconds kLimit{5};
  /// The limit while something of this rank is in flight: that may be what takes the room, and its target only late.
  /// Chosen: a peer that computes without a poll is rarely away for longer.
  static constexpr std::chrono::seconds kLimitInFlight{20};

  /// What the caller gives up: an operation, which ends with no_memory; or the peer, where something would be lost that no call
  /// or completion could tell of, as a reply.
  enum class Loss : std::uint8_t { operation, peer };

  using GetsMemory = bool (*)() noexcept;
  explicit MemoryPatience(GetsMemory gets_memory = core::gets_memory) noexcept : gets_memory_(gets_memory) {}

  /// Called after each attempt to which the conduit of `to` has answered `refused`, a `retry`. Returns true if for the limit
  /// no attempt has found room, and each look has found that memory is short: the conduit said so, or this process gets
  /// none. Then the caller ends the post with no_memory, or gives up the peer; the log says why.
  bool is_over(detail::EndpointState& state, Rank to, const Post& refused, bool in_flight,
               Loss loss = Loss::operation) noexcept;
  /// A post has found room.
  void begin_again() noexcept { *this = MemoryPatience(gets_memory_); }

 private:
  GetsMemory gets_memory_;
  Clock::time_point tried_at_{};     // the latest attempt
  Clock::time_point looked_at_{};    // the latest look for memory
  Clock::time_point short_since_{};  // since then no look has found any; the epoch: one has
  bool over_ = false;
};

}  // namespace aqueduct::core
