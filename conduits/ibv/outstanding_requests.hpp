#pragma once

#include "conduits/ibv/verbs.hpp"
#include "core/conduit.hpp"
#include "core/local_registrations.hpp"

#include <bit>
#include <cstdint>
#include <memory>

namespace aqueduct::conduits::ibv {

using LocalCache = core::LocalRegistrations<Owned<ibv_mr>>;
using Registration = LocalCache::Registration;

/// A work request that a queue pair has, and what it holds until it ends.
struct OutstandingRequest {
  enum class Kind : std::uint8_t {
    own,     ///< of the conduit itself: credits, probes
    packet,  ///< of the layers above, who are not told when it ends
    part,    ///< the first of two that make one operation
    share,   ///< of a large transfer that is dealt over several rails; its token is the share's
    put,
    get,
    atomic
  };

  core::Token token = 0;
  std::byte* bounce_buffer = nullptr;  ///< the bytes, if they are not the caller's own
  void* result = nullptr;              ///< where a slot's bytes go at the end
  Registration* borrowed = nullptr;    ///< of a local buffer
  std::uint64_t offset = 0;
  std::uint32_t key = 0;  ///< handle of the peer's segment
  std::uint32_t bytes = 0;
  Kind kind = Kind::own;
  // Only where reads end late (Sizes::in_order): else false.
  bool reads = false;
  bool ended = false;
};

/// Those of one queue pair, which end in the order in which they began. Numbers count from 0 and wrap around.
class OutstandingRequests {
 public:
  explicit OutstandingRequests(std::uint32_t most)
      : most_(most),
        mask_(std::bit_ceil(most) - 1),
        ring_(std::make_unique<OutstandingRequest[]>(mask_ + std::size_t{1})) {}

  std::uint32_t count() const noexcept { return next_ - oldest_; }
  std::uint32_t room() const noexcept { return most_ - count(); }
  std::uint32_t next() const noexcept { return next_; }
  std::uint32_t oldest() const noexcept { return oldest_; }

  /// Requires: room. Where it goes, and how long it is, is the last one's of this place until it is set.
  OutstandingRequest& begin(OutstandingRequest::Kind kind, core::Token token) noexcept {
    OutstandingRequest& entry = ring_[next_++ & mask_];
    entry.token = token;
    entry.bounce_buffer = nullptr;
    entry.result = nullptr;
    entry.borrowed = nullptr;
    entry.kind = kind;
    return entry;
  }
  void undo() noexcept { --next_; }
  OutstandingRequest& front() noexcept { return ring_[oldest_ & mask_]; }
  void end_front() noexcept { ++oldest_; }
  OutstandingRequest& operator[](std::uint32_t number) noexcept { return ring_[number & mask_]; }
  bool has(std::uint32_t number) const noexcept { return number - oldest_ < count(); }

  // Where reads may end after those behind them (Sizes::in_order). All others begin and end in order, and what a read brings
  // has been asked for before those behind it left.
  /// The completion of a request has come.
  void note_end(std::uint32_t number) noexcept {
    (*this)[number].ended = true;
    if (static_cast<std::int32_t>(number + 1 - ended_to_) > 0) ended_to_ = number + 1;
  }
  /// Whether the oldest has ended; it is forgotten that it was a read.
  bool front_ended() noexcept {
    if (count() == 0) return false;
    OutstandingRequest& oldest = front();
    const bool passed = static_cast<std::int32_t>(ended_to_ - oldest_) > 0;
    if (!(oldest.reads ? oldest.ended : passed)) return false;
    oldest.reads = oldest.ended = false;
    return true;
  }

 private:
  std::uint32_t most_;
  std::uint32_t mask_;
  std::uint32_t next_ = 0;
  std::uint32_t oldest_ = 0;
  std::uint32_t ended_to_ = 0;  // one more than the latest that has ended
  std::unique_ptr<OutstandingRequest[]> ring_;
};

}  // namespace aqueduct::conduits::ibv
