#pragma once

// Calls of all kinds in a row on a board, for tests.

#include "coll/algorithms/algorithms.hpp"
#include "coll/shared/board_of.hpp"

#include <array>
#include <cstring>
#include <random>

namespace aqueduct::coll::storm {

inline constexpr Rank kMembers = 4;

/// How many calls are enough: sanitizers take ten times as long.
constexpr std::uint32_t often(std::uint32_t calls) noexcept {
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
  return calls / 5;
#else
  return calls;
#endif
}

/// Changes an address that only `fetch` may use: whoever else uses it crashes.
inline constexpr std::uintptr_t kElsewhere = std::uintptr_t{1} << 62;

struct StormMemory {
  alignas(kBoardLine) std::array<std::array<std::byte, 65536>, kMembers> part{};
};

struct StormAccess {
  StormMemory* memory;
  std::array<bool, kMembers>* woken = nullptr;  ///< null: nobody sleeps

  std::byte* at(Rank r, std::uint64_t offset) const { return memory->part[r].data() + offset; }
  BoardHead& head(Rank r) const { return *reinterpret_cast<BoardHead*>(at(r, 0)); }
  BoardCounts& counts(Rank r) const { return *reinterpret_cast<BoardCounts*>(at(r, kBoardLine)); }
  BoardTiles& tiles(Rank r) const { return *reinterpret_cast<BoardTiles*>(at(r, 2 * kBoardLine)); }
  BoardSlot& own(Rank r, const BoardRoom& room, std::uint32_t slot) const {
    return *reinterpret_cast<BoardSlot*>(at(r, room.own_at(slot)));
  }
  BoardSlot& inbox(Rank r, const BoardRoom& room, std::uint32_t slot) const {
    return *reinterpret_cast<BoardSlot*>(at(r, room.inbox_at(slot)));
  }
  std::byte* bulk(Rank r, const BoardRoom& room, std::uint32_t slot) const {
    return at(r, room.bulk_at(slot));
  }
  static std::uint64_t load(const std::atomic<std::uint64_t>& word) {
    return word.load(std::memory_order_acquire);
  }
  static void store(std::atomic<std::uint64_t>& word, std::uint64_t value) {
    word.store(value, std::memory_order_release);
  }
  static std::uint64_t add(std::atomic<std::uint64_t>& word, std::uint64_t value) {
    return word.fetch_add(value, std::memory_order_acq_rel) + value;
  }
  static bool swap(std::atomic<std::uint64_t>& word, std::uint64_t before, std::uint64_t value) {
    return word.compare_exchange_strong(before, value, std::memory_order_acq_rel);
  }
  static std::uint64_t load_behind(const std::atomic<std::uint64_t>& word) { return load(word); }
  static std::byte* reach(Rank, const BufferNote& note, std::uint64_t) {
    return reinterpret_cast<std::byte*>(note.at);
  }
  static bool fetch(Rank, std::byte* to, const std::byte* from, std::uint64_t bytes) {
    std::memcpy(to, reinterpret_cast<const std::byte*>(reinterpret_cast<std::uintptr_t>(from) ^ kElsewhere),
                bytes);
    return true;
  }
  static std::uint32_t relaxed(const std::atomic<std::uint32_t>& word) {
    return word.load(std::memory_order_relaxed);
  }
  static void relaxed(std::atomic<std::uint32_t>& word, std::uint32_t value) {
    word.store(value, std::memory_order_relaxed);
  }
  static void reads(const std::byte*, std::uint64_t) {}
  static void have_read(Rank, std::uint64_t) {}
  static void have_written(Rank, std::uint64_t) {}
  static void have_staged(std::uint64_t) {}
  static void have_touched(std::uint64_t) {}
  static void have_copied(std::uint64_t) {}
  static void has_waited() {}
  static void moves(std::uint64_t) {}
  static void writes(const std::byte*, std::uint64_t) {}
  static void prefetch(const void*) {}
  static void prefetch_for_write(const void*) {}
  void wake(Rank member) const {
    if (woken != nullptr) (*woken)[member] = true;
  }
  void wake_all() const {
    for (Rank r = 0; r < kMembers; ++r) wake(r);
  }
  void wake_for_room(const std::atomic<std::uint64_t>& waiting) const {
    if (waiting.load(std::memory_order_seq_cst) != 0) wake_all();
  }
};

inline void add_words(void* to, const void* left, const void* right, std::size_t count, void*) {
  for (std::size_t i = 0; i < count; ++i) {
    std::uint32_t a, b;
    std::memcpy(&a, static_cast<const std::byte*>(left) + 4 * i, 4);
    std::memcpy(&b, static_cast<const std::byte*>(right) + 4 * i, 4);
    a += b;
    std::memcpy(static_cast<std::byte*>(to) + 4 * i, &a, 4);
  }
}

inline BoardCombiner storm_combiner() {
  return {.combine = add_words,
          .fold = kernels::Fold::of(UserOperator{add_words, nullptr, sizeof(std::uint32_t), true})};
}

/// `down`: bytes go from lower members to higher ones only, so that those run ahead as far as the slots allow. `up`: to member 0,
/// of which the others are ahead. `rooted`: to or from any root.
enum class StormKind { mixed, down, up, rooted };

/// A call that the number decides: the same on all members.
struct StormCall {
  const Algorithm* algorithm = nullptr;
  Shape shape;
  std::uint32_t reached = 0;
  bool can = false;

  StormCall(std::uint32_t number, const BoardRoom& room, StormKind kind) {
    std::mt19937 dice(number);
    const auto roll = [&](std::uint32_t sides) { return static_cast<std::uint32_t>(dice() % sides); };
    const auto all = board_algorithms();
    shape.ranks = kMembers;
    shape.element = 4;
    do {
      algorithm = &all[roll(static_cast<std::uint32_t>(all.size()))];
      shape.operation = algorithm->operation;
      shape.in = static_cast<Sync>(roll(3));
      shape.out = static_cast<Sync>(roll(3));
      shape.root = has_root(shape.operation) ? roll(kMembers) : 0;
      shape.bytes = shape.pitch = 4 * (roll(3) == 0 ? 20 + roll(20) : roll(12));
      shape.parameters = {2 + roll(3), 1 + roll(2), 1 + roll(2)};
      if (is_large(algorithm->board)) {
        // Several tiles and pieces, and a rest.
        shape.bytes = shape.pitch = 4 * roll(roll(2) == 0 ? 9000 : 300);
        reached = roll(6);
        can = piece_through(shape, room) != 0;
      } else {
        can = most_published(algorithm->board, shape) <= room.payload();
      }
      can = can && is_of(kind);
    } while (algorithm->refusal(shape) != nullptr || !can);
  }
  bool is_of(StormKind kind) const {
    if (kind == StormKind::mixed) return true;
    if (shape.in == Sync::all || shape.out == Sync::all || is_large(algorithm->board)) return false;
    if (algorithm->board == BoardMethod::last) return false;
    if (kind != StormKind::rooted && shape.root != 0) return false;
    switch (shape.operation) {
      case Operation::scan:
      case Operation::exscan: return kind == StormKind::down;
      case Operation::broadcast:
      case Operation::scatter: return kind != StormKind::up;
      case Operation::gather:
      case Operation::reduce: return kind != StormKind::down;
      default: return false;
    }
  }
  /// How others reach a member's buffers: those of all members, of some, of none; inputs by copies of the system, or not at all;
  /// all only by copies of the system.
  BufferNote note(std::uint32_t number, Rank member, const void* memory, bool input) const {
    BufferNote::Kind kind = BufferNote::address;
    if (reached == 2 || (reached == 1 && (number + member + (input ? 0 : 1)) % kMembers == 0))
      kind = BufferNote::nowhere;
    if (reached == 3 && input && (number + member) % 3 != 0) kind = BufferNote::of_process;
    if (reached == 4 && input) kind = BufferNote::nowhere;
    if (reached == 5) kind = BufferNote::of_process;
    return note_of(memory, kind);
  }
  static BufferNote note_of(const void* memory, BufferNote::Kind kind) {
    if (kind == BufferNote::nowhere) return {};
    const std::uintptr_t elsewhere = kind == BufferNote::of_process ? kElsewhere : 0;
    return {.at = reinterpret_cast<std::uintptr_t>(memory) ^ elsewhere, .segment = 0, .kind = kind};
  }

  static std::uint32_t value(std::uint32_t number, Rank member, std::uint64_t i) {
    return number * 31 + member * 1000 + static_cast<std::uint32_t>(i);
  }
  /// What element i of block b of a member's output must be; `any`: nothing is said of it.
  bool is_right(std::uint32_t number, Rank me, Rank b, std::uint64_t i, std::uint32_t found) const {
    const std::uint64_t count = shape.bytes / 4;
    const auto sum = [&](Rank end, std::uint64_t at) {
      std::uint32_t all = 0;
      for (Rank r = 0; r < end; ++r) all += value(number, r, at);
      return all;
    };
    switch (shape.operation) {
      case Operation::broadcast: return found == value(number, shape.root, i);
      case Operation::scatter: return found == value(number, shape.root, me * count + i);
      case Operation::gather:
      case Operation::all_gather: return found == value(number, b, i);
      case Operation::all_to_all: return found == value(number, b, me * count + i);
      case Operation::reduce_scatter: return found == sum(kMembers, me * count + i);
      case Operation::scan: return found == sum(me + 1, i);
      case Operation::exscan: return me == 0 || found == sum(me, i);
      default: return found == sum(kMembers, i);
    }
  }
};

}  // namespace aqueduct::coll::storm
