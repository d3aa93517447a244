#pragma once

#include <aqueduct/event.hpp>
#include <aqueduct/global_ptr.hpp>
#include <aqueduct/network_model.hpp>
#include <aqueduct/status.hpp>
#include <aqueduct/threads.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

namespace aqueduct {

class Team;

namespace detail {

struct EndpointState;
struct LayoutForC;

/// Where one rank's part of a segment is mapped in this process. Empty if it is not mapped.
///
/// Threads: one thread writes, others may read: first the size, with acquire, then the address. While the window opens
///          or closes, a reader may see one of the two as zero; it then treats the window as empty.
struct Window {
  std::atomic<std::byte*> base{nullptr};
  std::atomic<std::uint64_t> bytes{0};

  /// The address of `count` bytes at `offset`; null if they are not all inside the window.
  std::byte* find(std::uint64_t offset, std::size_t count) const noexcept {
    const std::uint64_t size = bytes.load(std::memory_order_acquire);
    if (offset <= size && count <= size - offset) [[likely]] {
      std::byte* const place = base.load(std::memory_order_relaxed);
      if (place != nullptr) [[likely]]
        return place + offset;
    }
    return nullptr;
  }
};

/// A table of windows, with the limits of its indices: all that an access to mapped memory reads before the window.
/// Who keeps a copy saves the access the way through the Endpoint. The table never moves, and its limits do not change;
/// in a forked child all windows of the parent's table are closed.
struct WindowTable {
  const Window* windows = nullptr;  ///< [(segment << shift) | rank]
  Rank ranks = 0;
  SegmentId segments = 0;  ///< the capacity: windows of segments that do not exist are empty
  std::uint32_t shift = 0;

  /// The address of a range of a segment; null if it is not mapped here or not inside the segment.
  std::byte* find(Rank rank, SegmentId segment, std::uint64_t offset, std::size_t bytes) const noexcept {
    if (segment < segments && rank < ranks) [[likely]]
      return windows[(std::size_t{segment} << shift) | rank].find(offset, bytes);
    return nullptr;
  }
};

}  // namespace detail

/// Counters of one endpoint, since the start of the job.
struct Statistics {
  std::uint64_t packets_sent = 0;        ///< packets handed to a conduit
  std::uint64_t packets_received = 0;    ///< packets delivered by a conduit
  std::uint64_t payload_bytes_sent = 0;  ///< bytes of payload in the packets sent
  std::uint64_t retries = 0;             ///< sends for which a conduit had no room
  std::uint64_t deferred = 0;            ///< replies queued because a conduit had no room
  std::uint64_t native_puts = 0;         ///< puts posted to a conduit
  std::uint64_t native_gets = 0;
  std::uint64_t reference_puts = 0;  ///< puts done by the reference layer, in packets
  std::uint64_t reference_gets = 0;
  std::uint64_t native_atomics = 0;
  std::uint64_t reference_atomics = 0;
  std::uint64_t handlers_run = 0;
  // Vector, indexed and strided transfers (vis.hpp), by plan.
  std::uint64_t vis_direct = 0;    ///< copied, because the peer's segment is mapped here
  std::uint64_t vis_pieces = 0;    ///< one operation for each contiguous run
  std::uint64_t vis_packed = 0;    ///< packets with a description; the peer's processor unpacks or gathers
  std::uint64_t vis_box = 0;       ///< gets of whole bounding boxes, of which the pieces are kept
  std::uint64_t vis_native = 0;    ///< lists of pieces posted to the conduit
  std::uint64_t vis_messages = 0;  ///< requests of packed transfers
  std::uint64_t vis_description_bytes = 0;  ///< bytes of descriptions in those requests
  std::uint64_t vis_as_strides = 0;         ///< requests that describe pieces by strides
  std::uint64_t vis_as_offsets = 0;         ///< … by one length and a list of offsets
  std::uint64_t vis_as_pieces = 0;          ///< … by offset and length of each piece
  std::uint64_t rejected = 0;               ///< malformed packets, which were dropped
  std::uint64_t sleeps = 0;                 ///< times that a wait went to sleep
  std::uint64_t stalls = 0;                 ///< times that a wait was reported as stalled
};

/// One counter of an endpoint. The part of the library that counts registers it.
struct StatisticsRow {
  std::string_view name;                   ///< "payload_bytes_sent"
  std::string_view unit;                   ///< what it counts: "bytes"
  const std::uint64_t* counter = nullptr;  ///< its value since the start of the job
};

/// One rank. A thread communicates through its endpoint.
///
/// Threads:   an endpoint belongs to one thread at a time, unless the job was started with another mode (Threads in
///            threads.hpp; docs/threading.md says what the threads then share). Threads that communicate in parallel
///            are fastest with one endpoint each. State that endpoints of a process share is protected by the library.
/// Processes: it belongs to the process that started the job. In a forked child it is rank 0 of 0, nothing is mapped,
///            and calls that communicate or wait fail with invalid_argument. The parent's rank is not affected.
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
    const detail::Window& mine = windows_[(std::size_t{id} << segment_shift_) | rank_];
    return {mine.base.load(std::memory_order_relaxed), mine.bytes.load(std::memory_order_relaxed)};
  }
  /// The size of a rank's part of a segment, in bytes; 0 if there is no such rank or segment. Sends nothing.
  std::uint64_t segment_bytes(Rank rank, SegmentId id = 0) const noexcept;

  /// A pointer to what `to` names, if its memory can be reached by plain loads and stores from here; otherwise null.
  ///
  /// This rank's own parts can be reached, and those of neighbours that are mapped. The first call or transfer that
  /// needs a neighbour's part maps it. Null also if the `bytes` bytes are not all inside the segment.
  template <class T>
  T* local(GlobalPtr<T> to, std::size_t bytes = sizeof(T)) noexcept {
    auto place = to.template as<std::byte>();
    std::byte* found = mapped(place.rank(), place.segment(), place.offset(), bytes);
    if (found == nullptr) [[unlikely]]
      found = map_and_find(place, bytes);
    return reinterpret_cast<T*>(found);
  }

  /// The ranks of my host, including me, in rising order.
  std::span<const Rank> neighbours() const noexcept;
  /// Whether the rank is on my host. True for myself.
  bool is_neighbour(Rank rank) const noexcept;
  /// A number for the rank's host, equal for two ranks exactly if they are on the same host. kNoRank if there is no
  /// such rank.
  std::uint32_t host_of(Rank rank) const noexcept;
  /// Whether a rank is known to have died or left.
  bool is_lost(Rank rank) const noexcept;
  /// The name of the conduit that serves a rank; empty if there is no such rank.
  std::string conduit_of(Rank rank) const;
  /// What communication with a rank costs, in the LogGP model (docs/network-model.md).
  ///
  /// From the conduit, if it knows it; otherwise as `aqperf calibrate` has measured it on this machine, or between hosts of
  /// its kind, if AQUEDUCT_NETWORK_PROFILE names the file; otherwise the defaults of the conduit. `origin` says which. A
  /// file that is damaged, of another machine or of another version is reported in the log once, and the defaults are used.
  ///
  /// Errors: a model of zeroes, if there is no such rank, or in a forked child.
  /// Cost:   a look-up; the first call reads the file.
  NetworkModel network_model(Rank peer) const;

  /// Processes what has arrived, without waiting: runs handlers and completes operations. Returns the number of packets
  /// and completions processed, and of parallel handlers run; one more if an operation of several steps has gone on, such
  /// as a collective call.
  /// Does nothing inside a handler.
  int progress() noexcept;
  /// Whether this thread is inside one of this endpoint's handlers or continuations, where nothing may wait.
  bool in_handler() const noexcept;
  /// Which threads may use this endpoint: the job's setting, or `multiple` if AQUEDUCT_COLL_PROGRESS is set.
  Threads threads() const noexcept;

  /// Waits until the event is done. Returns the outcome of its operation.
  ///
  /// Errors: those of the operation; in_handler if called from a handler or continuation (the event is unchanged).
  Status wait(Event& event) noexcept {
    if (event.done()) [[likely]]
      return event.status();
    return wait_slowly(event);
  }
  /// The same for an Event without a name. It also waits inside a continuation: otherwise the Event would be lost.
  Status wait(Event&& event) noexcept {
    if (event.done()) [[likely]]
      return event.status();
    return wait_to_the_end(event);
  }
  /// As wait, but for at most `limit`. Errors: also timed_out (the event is unchanged).
  Status wait_for(Event& event, std::chrono::nanoseconds limit) noexcept;
  /// Returns whether the event is done, after one round of progress if it was not.
  bool test(Event& event) noexcept {
    if (event.done()) return true;
    progress();
    return event.done();
  }

  /// Waits until `predicate()` returns true: makes progress, and calls it after each round.
  ///
  /// The wait spins, then yields the core, then sleeps, as every wait does. Arrivals end a sleep, and so does a
  /// neighbour's put or atomic on mapped memory with the option `notify`. Memory may also change without either; so a
  /// sleep lasts 0.1 ms at first, then up to 1 ms, or 1/64 of the time that the wait has lasted, but at most 20 ms.
  ///
  /// The loss of a rank does not end the wait. With `from` it does if that rank is lost; with kAnyRank, if any is.
  ///
  /// Requires:    `predicate` may start and test operations, but it does not wait. It does not throw. It is not called
  ///              again after it has returned true.
  /// Errors:      timed_out (`limit` has passed), peer_lost (`from` is lost, and the predicate is still false),
  ///              in_handler, out_of_range (no such rank), invalid_argument (in a forked child).
  /// Cost:        one call of the predicate if it is true. A wait that has been idle for a second takes as much processor
  ///              time as one in a barrier.
  /// Threads:     the predicate runs on the calling thread.
  template <class Predicate>
    requires(std::is_object_v<std::remove_reference_t<Predicate>>&& std::is_invocable_r_v<bool, Predicate&>)
  Status wait_until(Predicate&& predicate, std::chrono::nanoseconds limit = std::chrono::nanoseconds::max(),
                    Rank from = kNoRank)
  noexcept {
    using Callable = std::remove_reference_t<Predicate>;
    const auto call = [](const void* what) noexcept -> bool {
      return (*static_cast<Callable*>(const_cast<void*>(what)))();
    };
    return wait_until_true(call, std::addressof(predicate), limit, from);
  }
  /// Makes progress, and sleeps until something arrives: a packet, a completion, or the news that a rank is lost.
  ///
  /// A put or an atomic on mapped memory is no arrival, not even with `notify`; wait for its word by `wait_on`.
  ///
  /// Errors:      timed_out (`limit` has passed and nothing arrived), in_handler, invalid_argument (in a forked child).
  /// Cost:        one round of progress if something has arrived; otherwise that of a wait.
  Status progress_for(std::chrono::nanoseconds limit) noexcept;

  /// Waits for all operations with implicit completion (`_nbi`) that were begun outside access regions and groups.
  ///
  /// Errors:  the first failure among them (all of them are over then); in_handler.
  /// Threads: the implicit group and the open region are the endpoint's, so with Threads::multiple the threads share
  ///          them: a thread also waits for what others begin meanwhile, and one of the threads that wait gets the
  ///          failure.
  Status wait_implicit() noexcept;
  /// Makes one round of progress. Returns whether all implicit operations outside access regions are over.
  bool test_implicit() noexcept;
  /// Opens an access region: the `_nbi` operations until `end_region` belong to it, unless their options name a Group.
  /// Regions do not nest.
  ///
  /// Errors: invalid_argument (a region is open), refused (AQUEDUCT_OPERATIONS events are held), in_handler (in a
  ///         handler or a continuation).
  Status begin_region() noexcept;
  /// Closes the region. Returns one Event for all its operations; its outcome is the first failure among them.
  ///
  /// Errors: invalid_argument (no region is open; in a handler or a continuation, whose region it is not).
  Event end_region() noexcept;

  /// The team of all ranks.
  Team& world() noexcept;
  /// Waits until every rank has called it. It does not complete operations in flight: wait for those first.
  ///
  /// Errors: peer_lost, in_handler.
  Status barrier() noexcept;

  /// What this endpoint has counted since the job started.
  Statistics statistics() const noexcept;
  /// All counters: those of Statistics, under the same names, and those of layers that Statistics does not name.
  ///
  /// Lifetime: as long as the endpoint.
  /// Threads:  the counters are read on the endpoint's own thread. With Threads::multiple they may change during the
  ///           read: `statistics` reads them all at one moment.
  std::span<const StatisticsRow> statistics_rows() const noexcept;

  /// For use by the library only.
  detail::EndpointState& state() noexcept { return *state_; }

  /// The address of a range of a segment; null if it is not mapped here or not inside the segment.
  std::byte* mapped(Rank rank, SegmentId segment, std::uint64_t offset, std::size_t bytes) const noexcept {
    return find_in(rows_, windows_, rank, segment, offset, bytes);
  }
  /// As mapped, for atomics and for reading values. Null also in two more cases: the network does the job's atomics; or
  /// the memory is my own, and other ranks need my processor to change it. In the second case a program that
  /// polls its own word takes the slow path, which makes progress, so that other ranks can change the word.
  std::byte* mapped_for_value(Rank rank, SegmentId segment, std::uint64_t offset,
                              std::size_t bytes) const noexcept {
    return find_in(value_rows_, value_windows_, rank, segment, offset, bytes);
  }
  /// The table of mapped_for_value, which a caller may keep.
  detail::WindowTable value_table() const noexcept {
    return {value_windows_, ranks_, segments_, segment_shift_};
  }

 private:
  friend struct detail::EndpointState;
  friend struct detail::LayoutForC;  // c/layout.cpp ties the C headers to the members below
  Endpoint() noexcept = default;

  [[gnu::cold]] Status wait_slowly(Event& event) noexcept;
  Status wait_until_true(bool (*predicate)(const void*) noexcept, const void* what,
                         std::chrono::nanoseconds limit, Rank from) noexcept;
  [[gnu::cold]] Status wait_to_the_end(Event& event) noexcept;
  [[gnu::cold]] std::byte* map_and_find(GlobalPtr<std::byte> place, std::size_t bytes) noexcept;

  /// So many segments have the addresses of their rows in the Endpoint.
  static constexpr SegmentId kRows = 8;
  using Rows = const detail::Window* [kRows];
  /// The address of a range, by a table of windows and the addresses of its first rows. Of the first segments the window is one load
  /// away: where a target's lines lie at the same place in their pages as the source's, processors begin a copy after all loads that
  /// the target's address comes from. Measured on Zen 5: puts of 512 B took 6 ns by the whole table, and 4.9.
  [[gnu::always_inline]] std::byte* find_in(const Rows& rows, const detail::Window* const& windows, Rank rank,
                                            SegmentId segment, std::uint64_t offset,
                                            std::size_t bytes) const noexcept {
    if (rank >= ranks_) [[unlikely]]
      return nullptr;
    const detail::Window* row = nullptr;
    if (segment < kRows) [[likely]]
      row = rows[segment];
    else if (segment < segments_)
      row = windows + (std::size_t{segment} << segment_shift_);
    else
      return nullptr;
    return row[rank].find(offset, bytes);
  }

  // The first member, and alone on its page: the other members are on a page that the system gives a forked child as
  // zeroes (core/endpoint_state.cpp). They are at that page's end: where transfers begin, at the start of a page, a load
  // would wait for the stores of the transfer before (docs/decisions/0108-tables-at-the-end-of-pages.md).
  static constexpr std::size_t kPage = 4096;
  static constexpr std::size_t kAtEndOfPage = 192;
  detail::EndpointState* state_ = nullptr;
  [[maybe_unused]] std::byte unused_[kPage - kAtEndOfPage];
  Rank rank_ = 0;
  Rank ranks_ = 0;
  SegmentId segments_ = 0;  // the capacity: windows of segments that do not exist are empty
  std::uint32_t segment_shift_ = 0;
  const detail::Window* windows_ =
      nullptr;  // [(segment << segment_shift_) | rank]; my own part's is always open
  const detail::Window* value_windows_ = nullptr;  // the same, see mapped_for_value
  Rows rows_ = {};  // of the first segments: &windows_[segment << segment_shift_]
  Rows value_rows_ = {};
};

}  // namespace aqueduct
