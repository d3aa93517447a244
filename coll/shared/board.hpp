#pragma once

#include "coll/shared/board_of.hpp"
#include "core/endpoint_state.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
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
  static std::uint32_t relaxed(const std::atomic<std::uint32_t>& word) noexcept {
    return word.load(std::memory_order_relaxed);
  }
  static void relaxed(std::atomic<std::uint32_t>& word, std::uint32_t value) noexcept {
    word.store(value, std::memory_order_relaxed);
  }
  static void reads(const std::byte*, std::uint64_t) noexcept {}
  static void writes(const std::byte*, std::uint64_t) noexcept {}

  /// Ends a member's sleep, if it sleeps. After a store that it may wait for.
  void wake(Rank member) noexcept {
    const Member& one = members_[member];
    std::atomic_signal_fence(std::memory_order_seq_cst);
    if (one.sleeping == nullptr || one.sleeping->load(std::memory_order_seq_cst) != 0) [[unlikely]]
      wake_slowly(member);
  }
  void wake_all() noexcept {
    for (Rank i = 0; i < members_.size(); ++i) {
      if (i != me_) wake(i);
    }
  }
  /// A member's part could not be mapped: the board is of no use any more.
  bool failed() const noexcept { return failed_; }

 private:
  struct Member {
    std::byte* part = nullptr;  ///< null: not mapped yet
    const std::atomic<std::uint32_t>* sleeping = nullptr;
    std::uint64_t offset = 0;
    Rank rank = kNoRank;
  };
  std::byte* part(Rank member) noexcept {
    std::byte* const at = members_[member].part;
    return at != nullptr ? at : map(member);
  }
  [[gnu::cold]] std::byte* map(Rank member) noexcept;
  [[gnu::cold]] void wake_slowly(Rank member) noexcept;

  aqueduct::detail::EndpointState* state_;
  std::vector<Member> members_;
  Rank me_;
  std::uint64_t bytes_;
  bool fenced_ = false;  ///< a sleeper makes all others execute a barrier: plain stores will do
  bool failed_ = false;
};

using Board = BoardOf<MappedBoards>;
extern template class BoardOf<MappedBoards>;

}  // namespace aqueduct::coll
