#pragma once

#include <aqueduct/event.hpp>
#include <aqueduct/global_ptr.hpp>
#include <aqueduct/status.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace aqueduct {

class Team;

namespace detail {

struct EndpointState;

/// One rank's part of a segment as seen from here: empty unless its memory is mapped into this process.
struct Window {
  std::byte* base = nullptr;
  std::uint64_t bytes = 0;
};

}  // namespace detail

/// What one endpoint has done so far. Counts since the start of the job.
struct Statistics {
  std::uint64_t packets_sent = 0;        ///< packets given to a conduit
  std::uint64_t packets_received = 0;    ///< packets taken from a conduit
  std::uint64_t payload_bytes_sent = 0;  ///< bytes of payload in the packets sent
  std::uint64_t retries = 0;             ///< sends that a conduit had no room for
  std::uint64_t deferred = 0;            ///< replies kept back because a conduit had no room
  std::uint64_t native_puts = 0;         ///< put requests handed to a conduit's own put
  std::uint64_t native_gets = 0;
  std::uint64_t reference_puts = 0;  ///< puts done in packets by the reference layer
  std::uint64_t reference_gets = 0;
  std::uint64_t native_atomics = 0;
  std::uint64_t reference_atomics = 0;
  std::uint64_t handlers_run = 0;
  // Vector, indexed and strided transfers (vis.hpp), by how they were done.
  std::uint64_t vis_direct = 0;  ///< copied: the peer is mapped here
  std::uint64_t vis_pieces = 0;  ///< an operation for each contiguous run
  std::uint64_t vis_packed = 0;  ///< packets with descriptions, unpacked or gathered by the peer's processor
  std::uint64_t vis_box = 0;     ///< gets of all that lies between the pieces
  std::uint64_t vis_native = 0;  ///< lists of pieces given to the conduit
  std::uint64_t vis_messages = 0;           ///< requests that packed ones took
  std::uint64_t vis_description_bytes = 0;  ///< in these: what they say of the peer's pieces
  std::uint64_t vis_as_strides = 0;         ///< requests that describe pieces by strides
  std::uint64_t vis_as_offsets = 0;         ///< by offsets of equal pieces
  std::uint64_t vis_as_pieces = 0;          ///< by offset and length of each
  std::uint64_t rejected = 0;               ///< packets that could not be understood
  std::uint64_t sleeps = 0;                 ///< times a wait went to sleep
  std::uint64_t stalls = 0;                 ///< times a wait was reported as stalled
};

/// One rank: what a thread communicates through.
///
/// Threads:   an endpoint belongs to one thread at a time; threads that communicate in parallel each use their
///            own. What two endpoints of a process share guards itself.
/// Processes: it belongs to the process that started the job. In a forked child it is rank 0 of 0, nothing is mapped,
///            and calls that communicate or wait fail with invalid_argument: the parent's rank notices nothing.
/// Lifetime:  owned by its Job.
class Endpoint {
 public:
  Endpoint(const Endpoint&) = delete;
  Endpoint& operator=(const Endpoint&) = delete;

  Rank rank() const noexcept { return rank_; }
  Rank ranks() const noexcept { return ranks_; }

  /// My part of the primary segment (segment 0), of AQUEDUCT_SEGMENT_BYTES.
  std::span<std::byte> segment() const noexcept { return segment_of(0); }
  /// My part of a segment. Empty if there is no such segment.
  std::span<std::byte> segment_of(SegmentId id) const noexcept {
    if (id >= segments_) return {};
    return mine_[id];
  }
  /// How many bytes of a segment a rank has; 0 if there is no such rank or segment. Sends nothing.
  std::uint64_t segment_bytes(Rank rank, SegmentId id = 0) const noexcept;

  /// The place in memory that `to` names, if a plain pointer can reach it from here; else null.
  ///
  /// True for this rank itself and for neighbours whose segments are mapped. `bytes` must lie inside the
  /// segment. Mapping a neighbour's segment happens at the first call or transfer that needs it.
  template <class T>
  T* local(GlobalPtr<T> to, std::size_t bytes = sizeof(T)) noexcept {
    auto place = to.template as<std::byte>();
    std::byte* found = mapped(place.rank(), place.segment(), place.offset(), bytes);
    if (found == nullptr) [[unlikely]]
      found = map_and_find(place, bytes);
    return reinterpret_cast<T*>(found);
  }

  /// The ranks that share my host, me included, in rising order.
  std::span<const Rank> neighbours() const noexcept;
  bool is_neighbour(Rank rank) const noexcept;
  /// A number that two ranks share exactly when they are on one host; kNoRank if there is no such rank.
  std::uint32_t host_of(Rank rank) const noexcept;
  /// Whether a rank is known to have died or left.
  bool is_lost(Rank rank) const noexcept;
  /// The name of the conduit that serves a rank.
  std::string conduit_of(Rank rank) const;

  /// Does whatever work has arrived, then returns: runs handlers, completes operations. Inside a handler
  /// it does nothing. Returns how many packets and completions it saw.
  int progress() noexcept;
  /// Whether this thread is inside one of this endpoint's handlers, where nothing may wait.
  bool in_handler() const noexcept;

  /// Waits until the event is done; its outcome.
  ///
  /// Errors: the operation's own; in_handler if called from a handler (the event stays as it was).
  Status wait(Event& event) noexcept {
    if (event.done()) [[likely]]
      return event.status();
    return wait_slowly(event);
  }
  Status wait(Event&& event) noexcept { return wait(event); }
  /// Waits no longer than `limit`; timed_out leaves the event as it was.
  Status wait_for(Event& event, std::chrono::nanoseconds limit) noexcept;
  /// One round of progress if the event is not done; whether it is.
  bool test(Event& event) noexcept {
    if (event.done()) return true;
    progress();
    return event.done();
  }

  /// Waits for every operation with implicit completion (`_nbi`) begun so far outside of access regions.
  ///
  /// Errors: the first failure among them; they count as finished then.
  Status wait_implicit() noexcept;
  /// One round of progress; whether every implicit operation outside of access regions is over.
  bool test_implicit() noexcept;
  /// Opens an access region: `_nbi` operations until `end_region` belong to it. Regions do not nest.
  ///
  /// Errors: invalid_argument (one is open), refused (AQUEDUCT_OPERATIONS events are held).
  Status begin_region() noexcept;
  /// Closes the region: one Event for all its operations; its outcome is their first failure.
  ///
  /// Errors: invalid_argument (none is open).
  Event end_region() noexcept;

  /// The team of all ranks.
  Team& world() noexcept;
  /// Waits until every rank has called it. Errors: peer_lost, in_handler. Says nothing of operations in flight.
  Status barrier() noexcept;

  Statistics statistics() const noexcept;

  /// For the library's own use.
  detail::EndpointState& state() noexcept { return *state_; }

  /// The address of `bytes` bytes, or null when they are not mapped here or not inside the segment.
  std::byte* mapped(Rank rank, SegmentId segment, std::uint64_t offset, std::size_t bytes) const noexcept {
    if (segment < segments_ && rank < ranks_) [[likely]] {
      const detail::Window& window = windows_[std::size_t{segment} * ranks_ + rank];
      if (offset <= window.bytes && bytes <= window.bytes - offset) [[likely]] {
        return window.base + offset;
      }
    }
    return nullptr;
  }
  /// The same for atomics and for values read: null too where the network does the job's atomics, and for my own memory where
  /// others need my processor for theirs. A loop over my own word then goes the cold way, which makes progress.
  std::byte* mapped_for_value(Rank rank, SegmentId segment, std::uint64_t offset,
                              std::size_t bytes) const noexcept {
    if (segment < segments_ && rank < ranks_) [[likely]] {
      const detail::Window& window = value_windows_[std::size_t{segment} * ranks_ + rank];
      if (offset <= window.bytes && bytes <= window.bytes - offset) [[likely]] {
        return window.base + offset;
      }
    }
    return nullptr;
  }

 private:
  friend struct detail::EndpointState;
  Endpoint() noexcept = default;

  [[gnu::cold]] Status wait_slowly(Event& event) noexcept;
  [[gnu::cold]] std::byte* map_and_find(GlobalPtr<std::byte> place, std::size_t bytes) noexcept;

  // First, and alone on its page: the others are on one that a forked child gets as zeroes (core/endpoint_state.cpp).
  detail::EndpointState* state_ = nullptr;
  Rank rank_ = 0;
  Rank ranks_ = 0;
  SegmentId segments_ = 0;
  const detail::Window* windows_ = nullptr;        // [segment * ranks_ + rank]
  const detail::Window* value_windows_ = nullptr;  // the same, see mapped_for_value
  const std::span<std::byte>* mine_ = nullptr;     // [segment]
};

}  // namespace aqueduct
