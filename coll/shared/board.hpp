#pragma once

#include "coll/shared/board_of.hpp"
#include "coll/shared/process_copies.hpp"
#include "core/endpoint_state.hpp"
#include "core/prefetch.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace aqueduct::coll {

/// How a board's memory is reached: plainly. Each member's part is in its own segment 1, and mapped here at its first use.
class MappedBoards {
 public:
  /// `offsets`: [member] where its part is in its segment 1. `ranks`: [member] its rank in the job; both are read now.
  /// May throw std::bad_alloc.
  MappedBoards(aqueduct::detail::EndpointState& state, std::span<const std::uint64_t> offsets,
               std::span<const Rank> ranks, Rank me, std::uint64_t bytes);

  BoardHead& head(Rank member) noexcept { return *reinterpret_cast<BoardHead*>(part(member)); }
  BoardCounts& counts(Rank member) noexcept {
    return *reinterpret_cast<BoardCounts*>(part(member) + kBoardLine);
  }
  BoardTiles& tiles(Rank member) noexcept {
    return *reinterpret_cast<BoardTiles*>(part(member) + 2 * kBoardLine);
  }
  BoardSlot& own(Rank member, const BoardRoom& room, std::uint32_t slot) noexcept {
    return *reinterpret_cast<BoardSlot*>(part(member) + room.own_at(slot));
  }
  BoardSlot& inbox(Rank member, const BoardRoom& room, std::uint32_t slot) noexcept {
    return *reinterpret_cast<BoardSlot*>(part(member) + room.inbox_at(slot));
  }
  std::byte* bulk(Rank member, const BoardRoom& room, std::uint32_t slot) noexcept {
    return part(member) + room.bulk_at(slot);
  }

  static std::uint64_t load(const std::atomic<std::uint64_t>& word) noexcept {
    return word.load(std::memory_order_acquire);
  }
  /// Readers may be asleep: see `wake`.
  void store(std::atomic<std::uint64_t>& word, std::uint64_t value) const noexcept {
    // Not by an order that is chosen at run time: every store would be sequentially consistent.
    if (fenced_) [[likely]]
      word.store(value, std::memory_order_release);
    else
      word.store(value, std::memory_order_seq_cst);
  }
  static std::uint64_t add(std::atomic<std::uint64_t>& word, std::uint64_t value) noexcept {
    return word.fetch_add(value, std::memory_order_acq_rel) + value;
  }
  /// Sets a word that still has the value `before`. False: it has another one.
  static bool swap(std::atomic<std::uint64_t>& word, std::uint64_t before, std::uint64_t value) noexcept {
    return word.compare_exchange_strong(before, value, std::memory_order_acq_rel, std::memory_order_relaxed);
  }
  /// A load that is not before this member's earlier loads of plain memory.
  static std::uint64_t load_behind(const std::atomic<std::uint64_t>& word) noexcept {
#if defined(__x86_64__) || defined(__SANITIZE_THREAD__)
    std::atomic_signal_fence(std::memory_order_acquire);  // the processor keeps the order of loads
#else
    std::atomic_thread_fence(std::memory_order_acquire);
#endif
    return word.load(std::memory_order_acquire);
  }
  static std::uint32_t relaxed(const std::atomic<std::uint32_t>& word) noexcept {
    return word.load(std::memory_order_relaxed);
  }
  static void relaxed(std::atomic<std::uint32_t>& word, std::uint32_t value) noexcept {
    word.store(value, std::memory_order_relaxed);
  }
  static void prefetch(const void* line) noexcept { core::prefetch(line); }
  static void prefetch_for_write(const void* line) noexcept { core::prefetch_for_write(line); }
  static void reads(const std::byte*, std::uint64_t) noexcept {}
  static void writes(const std::byte*, std::uint64_t) noexcept {}
  /// Counts bytes of large operations: read from a member's memory, written there, and copied into this member's part for the
  /// others.
  void have_read(Rank member, std::uint64_t bytes) noexcept { members_[member].read += bytes; }
  void have_written(Rank member, std::uint64_t bytes) noexcept { members_[member].written += bytes; }
  void have_staged(std::uint64_t bytes) noexcept { staged_ += bytes; }
  /// Counts the bytes that a copy or a reduction of a large operation reads, its own memory's too, and those that it writes.
  void have_touched(std::uint64_t bytes) noexcept { touched_ += bytes; }
  /// The same of a copy, which reads as many bytes as it writes.
  void have_copied(std::uint64_t bytes) noexcept {
    copied_ += bytes;
    touched_ += 2 * bytes;
  }
  /// Counts a movement in which this member had to wait.
  void has_waited() noexcept { ++waits_; }
  static void moves(std::uint64_t) noexcept {}
  /// As BoardHead::processor.
  static std::uint64_t processor() noexcept;
  std::uint64_t read_from(Rank member) const noexcept { return members_[member].read; }
  std::uint64_t written_to(Rank member) const noexcept { return members_[member].written; }
  std::uint64_t staged() const noexcept { return staged_; }
  std::uint64_t touched() const noexcept { return touched_; }
  std::uint64_t copied() const noexcept { return copied_; }
  std::uint64_t waits() const noexcept { return waits_; }

  /// Ends a member's sleep, if it sleeps. After a store that it may wait for.
  void wake(Rank member) noexcept {
    const Member& one = members_[member];
    std::atomic_signal_fence(std::memory_order_seq_cst);
    if (one.sleeping->load(std::memory_order_seq_cst) != 0) [[unlikely]]
      wake_slowly(member);
  }
  void wake_all() noexcept {
    std::atomic_signal_fence(std::memory_order_seq_cst);
    for (const Member& one : members_) {
      if (one.sleeping->load(std::memory_order_seq_cst) != 0) [[unlikely]]
        wake_slowly(static_cast<Rank>(&one - members_.data()));
    }
  }
  /// After a store of `done`: wakes those who may wait for it. `waiting`: how many do.
  void wake_for_room(const std::atomic<std::uint64_t>& waiting) noexcept {
    std::atomic_signal_fence(std::memory_order_seq_cst);
    if (waiting.load(std::memory_order_seq_cst) != 0) [[unlikely]]
      wake_all();
  }
  /// Where the other members find a buffer of this one. `copies`: they may let the system copy it. Before it is first asked
  /// with `copies`, `prepare_copies` has been called.
  BufferNote note(const std::byte* memory, std::uint64_t bytes, bool copies) noexcept;
  /// Goes on preparing for copies between processes, which all members have to do. In each call that may use them.
  void prepare_copies() noexcept;
  /// Reads out of a member's process, whose address `from` is. False: as `reach`, and from then on always: the operation cannot
  /// go on where it was.
  bool fetch(Rank member, std::byte* to, const std::byte* from, std::uint64_t bytes) noexcept;
  /// Where a member's buffer is here, or the address for `fetch`; null: it cannot be mapped. Either the member is lost, which
  /// its team learns, or `failed` says so after some time.
  std::byte* reach(Rank member, const BufferNote& note, std::uint64_t bytes) noexcept;

  /// A live member's memory cannot be mapped: the board is of no use any more.
  bool failed() const noexcept { return unreached_.has_value() && waited_for_loss(); }
  /// Why: the system does not copy out of that rank's memory any more, or this rank has no memory left to map it.
  Status failure() const noexcept {
    if (not_copied_ != kNoRank) return {ErrorCode::network_failed, not_copied_};
    return {ErrorCode::no_memory, state_->rank};
  }

 private:
  // So that looks at all members need not tell apart what each has.
  static inline const std::atomic<std::uint32_t> kAwake{0};
  static inline const std::atomic<std::uint32_t> kMayBeAsleep{1};  ///< its conduit has no such word

  struct Member {
    std::byte* part = nullptr;  ///< null: not mapped yet
    /// Not 0: it is asleep. Of this member: kAwake.
    const std::atomic<std::uint32_t>* sleeping = &kMayBeAsleep;
    std::uint64_t offset = 0;
    std::uint64_t read = 0;     ///< bytes, by this member
    std::uint64_t written = 0;  ///< likewise
    Rank rank = kNoRank;
  };
  std::byte* part(Rank member) noexcept {
    std::byte* const at = members_[member].part;
    return at != nullptr ? at : map(member);
  }
  [[gnu::cold]] std::byte* map(Rank member) noexcept;
  [[gnu::cold]] void unreachable(Rank member) noexcept;
  [[gnu::cold]] bool waited_for_loss() const noexcept;
  [[gnu::cold]] void wake_slowly(Rank member) noexcept;
  bool find_segment(const std::byte* memory, std::uint64_t bytes) noexcept;

  aqueduct::detail::EndpointState* state_;
  std::vector<Member> members_;
  Rank me_;
  std::uint64_t bytes_;
  std::uint64_t staged_ = 0;
  std::uint64_t touched_ = 0;
  std::uint64_t copied_ = 0;
  std::uint64_t waits_ = 0;
  bool fenced_ = false;  ///< a sleeper makes all others execute a barrier: plain stores will do
  std::optional<core::Clock::time_point> unreached_;  ///< since when a member's memory cannot be mapped
  bool one_process_ = true;                           ///< all members are in this process
  std::unique_ptr<ProcessCopies> copies_;  ///< null: not asked for yet, or all members are in this process
  Rank not_copied_ = kNoRank;              ///< the first whose memory could not be copied
  // The segment in which the latest buffer was.
  SegmentId segment_ = 0;
  std::span<std::byte> mine_;
};

using Board = BoardOf<MappedBoards>;
extern template class BoardOf<MappedBoards>;

}  // namespace aqueduct::coll
