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

/// A work request that was posted, and what it holds until it ends.
struct OutstandingRequest {
  enum class Kind : std::uint8_t {
    own,     ///< of the conduit itself: credit returns, probes
    packet,  ///< a message of the layers above, whose end is not reported
    part,    ///< one of several that make an operation, and not the last
    share,   ///< a share of a striped transfer; the token is that of the share
    put,
    get,
    atomic
  };

  core::Token token = 0;
  std::byte* bounce_buffer = nullptr;  ///< null: the request is inline, or uses the caller's memory
  void* result = nullptr;              ///< where the bounce buffer's bytes are copied at the end
  Registration* borrowed = nullptr;    ///< registration of the local buffer
  std::uint64_t offset = 0;
  std::uint32_t key = 0;  ///< handle of the peer's segment
  std::uint32_t bytes = 0;
  Kind kind = Kind::own;
  // Used only where reads may end late (see Sizes::in_order); false otherwise.
  bool reads = false;
  bool ended = false;
};

/// The outstanding requests of one queue pair, which end in the order of their posts. Numbers count from 0 and wrap
/// around.
class OutstandingRequests {
 public:
  explicit OutstandingRequests(std::uint32_t most)
      : most_(most),
        mask_(std::bit_ceil(most) - 1),
        ring_(std::make_unique<OutstandingRequest[]>(mask_ + std::size_t{1})) {}

  std::uint32_t count() const noexcept { return next_ - oldest_; }
  std::uint32_t most() const noexcept { return most_; }
  std::uint32_t room() const noexcept { return most_ - count(); }
  std::uint32_t next() const noexcept { return next_; }
  std::uint32_t oldest() const noexcept { return oldest_; }

  /// Requires: room. Offset, key and bytes are stale until the caller sets them.
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

  // For devices on which reads may end after later requests (see Sizes::in_order). All other requests begin and end in
  // order, and a read's data is requested before later requests leave.
  /// The completion of a request has arrived.
  void note_end(std::uint32_t number) noexcept {
    (*this)[number].ended = true;
    if (static_cast<std::int32_t>(number + 1 - ended_to_) > 0) ended_to_ = number + 1;
  }
  /// Whether the oldest request has ended. If so, resets its flags.
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
  std::uint32_t ended_to_ = 0;  // one more than the newest that has ended
  std::unique_ptr<OutstandingRequest[]> ring_;
};

}  // namespace aqueduct::conduits::ibv
