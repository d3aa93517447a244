#pragma once

#include <aqueduct/endpoint.hpp>

#include "core/conduit.hpp"
#include "core/wiped_memory.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace aqueduct::core {

/// How one rank's part of a segment is reached from here. Keys are used at the first access.
struct SegmentPart {
  enum class Reach : std::uint8_t {
    none,       ///< that rank has no part
    unknown,    ///< nothing tried yet
    mapped,     ///< see the window
    native,     ///< the conduit's own operations, with `key`
    reference,  ///< packets
  };
  std::uint64_t bytes = 0;
  std::byte* mapped_at = nullptr;  ///< where a conduit has mapped it, even if its window has closed since
  std::uint64_t key = 0;           ///< its handle, if `has_key`
  NativeRma* rma = nullptr;        ///< whose handle that is
  std::uint64_t max_transfer = 0;  ///< its conduit's
  Reach reach = Reach::unknown;
  std::uint8_t phase = 0;  ///< its owner's address of it, modulo 16: what atomics are aligned to
  bool asked_for_key = false;
  bool has_key = false;            ///< imported; also of mapped memory, for the network's atomics
  std::vector<std::byte> map_key;  ///< empty: cannot be mapped
  std::vector<std::byte> rma_key;  ///< empty: not registered
  std::unique_ptr<SegmentPart>
      far;  ///< a neighbour's, or my own, as the far conduit reaches it: for its atomics

  /// Whether an atomic of so many bytes is aligned there, by its owner's address: the same rule on every rank.
  bool aligned(std::uint64_t offset, std::size_t bytes) const noexcept {
    return (phase + offset) % bytes == 0;
  }
};

/// A segment as one endpoint knows it. Without parts: it was released, or its number was given to segments of teams
/// that this rank does not belong to.
struct SegmentRecord {
  std::span<std::byte> mine;
  Rank first = 0;  ///< the lowest rank that has a part
  std::vector<SegmentPart>
      parts;               ///< of `first` and the ranks after it; of no reach for those outside the team
  std::uint64_t team = 0;  ///< its team's id
  bool attached = false;   ///< `mine` is memory of the program's own
  bool released = false;

  /// Null: that rank has no part. One of no reach may be returned.
  SegmentPart* part(Rank rank) noexcept {
    return rank - first < parts.size() ? &parts[rank - first] : nullptr;  // below `first` wraps around
  }
  const SegmentPart* part(Rank rank) const noexcept { return const_cast<SegmentRecord*>(this)->part(rank); }
};

/// All segments of an endpoint. What the inline code reads is here and never moves.
///
/// In a forked child it has no segment and no window: see `in_child`.
class SegmentTable {
 public:
  /// Room for `capacity` segments, or for fewer if the system does not give that much address space. Rows of windows
  /// become memory when their segments come. Throws std::bad_alloc where there is not even room for a few.
  SegmentTable(Rank ranks, std::uint32_t capacity);

  /// How many segments this endpoint can have in its life: no number is given twice.
  std::uint32_t capacity() const noexcept { return capacity_; }
  /// The number of the next segment.
  SegmentId size() const noexcept { return shown_->segments; }
  /// Whether this is a forked child's copy, in which nothing is reached.
  bool in_child() const noexcept { return shown_->ranks == 0; }
  SegmentRecord& operator[](SegmentId id) noexcept { return records_[id]; }
  const SegmentRecord& operator[](SegmentId id) const noexcept { return records_[id]; }

  /// Adds the next segment; `parts` are those of `first` and the ranks after it. Throws std::bad_alloc, and nothing has
  /// changed. Requires: size() < capacity().
  SegmentId add(std::span<std::byte> mine, std::vector<SegmentPart> parts, Rank first = 0);
  /// Takes the last one back: another rank could not add it, and nobody has used it.
  void take_back() noexcept;
  /// Ends a segment: nothing of it is reached any more. Returns what it was, for the caller to give back.
  SegmentRecord release(SegmentId id) noexcept;
  /// Leaves out numbers that other ranks have used already: the next segment's is `next`, if that is higher.
  /// Throws std::bad_alloc. Requires: next <= capacity().
  void skip_to(SegmentId next);
  /// The part that `at` names, or why `bytes` bytes there are nothing: out_of_range, closed (the segment was released),
  /// or invalid_argument in a child.
  Result<SegmentPart*> check(GlobalPtr<std::byte> at, std::uint64_t bytes) noexcept;
  /// The part that `at` names if the conduit's own operations are known to reach `bytes` bytes there, else null.
  const SegmentPart* native(GlobalPtr<std::byte> at, std::uint64_t bytes) const noexcept {
    const SegmentPart* const part = find(at);
    if (part == nullptr) return nullptr;
    const bool inside = at.offset() <= part->bytes && bytes <= part->bytes - at.offset();
    return inside && part->reach == SegmentPart::Reach::native ? part : nullptr;
  }
  /// The part that `at` names as that network reaches it, once its key is there, else null.
  const SegmentPart* of_network(const NativeRma* network, GlobalPtr<std::byte> at,
                                std::uint64_t bytes) const noexcept {
    const SegmentPart* part = find(at);
    if (part == nullptr) return nullptr;
    if (part->far != nullptr) part = part->far.get();
    const bool inside = at.offset() <= part->bytes && bytes <= part->bytes - at.offset();
    return inside && part->has_key && part->rma == network ? part : nullptr;
  }
  /// The address of `bytes` bytes at `at` if they are mapped here, else null.
  std::byte* mapped(GlobalPtr<std::byte> at, std::uint64_t bytes) const noexcept {
    if (at.rank() >= shown_->ranks || at.segment() >= shown_->segments) return nullptr;
    return windows_[(std::size_t{at.segment()} << shift_) | at.rank()].find(at.offset(), bytes);
  }
  /// How many bytes of a segment a rank has; 0 if there is no such rank or segment.
  std::uint64_t bytes_of(SegmentId id, Rank rank) const noexcept {
    const SegmentPart* const part = find({rank, 0, id});
    return part != nullptr ? part->bytes : 0;
  }
  /// Makes a part reachable by plain instructions; atomics and values read too if `for_values`.
  void set_window(SegmentId id, Rank rank, std::byte* base, std::uint64_t bytes,
                  bool for_values = true) noexcept;
  /// Nothing of that rank is reached any more.
  void forget(Rank rank) noexcept;

  /// Of rank r in segment s: at (s << shift()) | r. Readers may be on other threads than the one that opens windows.
  const aqueduct::detail::Window* windows() const noexcept { return windows_; }
  /// The same of what atomics and values read, see Endpoint::mapped_for_value.
  const aqueduct::detail::Window* value_windows() const noexcept { return value_windows_; }
  std::uint32_t shift() const noexcept { return shift_; }

 private:
  /// The head of the wiped pages.
  struct alignas(64) Shown {
    Rank ranks;
    SegmentId segments;
  };

  const SegmentPart* find(GlobalPtr<std::byte> at) const noexcept {
    if (at.rank() >= shown_->ranks || at.segment() >= shown_->segments) return nullptr;
    return records_[at.segment()].part(at.rank());
  }
  static std::uint32_t shift_of(Rank ranks) noexcept;
  static std::uint32_t affordable(std::uint32_t capacity, std::uint32_t shift) noexcept;
  static std::size_t bytes_of_rows(std::uint32_t rows, std::uint32_t shift) noexcept;
  static WipedMemory reserve(std::uint32_t& capacity, std::uint32_t shift);
  void make_rows(std::uint32_t rows);
  void close(SegmentId id, Rank rank) noexcept;
  Status refusal(SegmentId id) const noexcept;

  std::uint32_t shift_;
  std::uint32_t capacity_;
  WipedMemory pages_;
  Shown* shown_;
  // A row for each segment: a window for each rank, then as many for values. Zeroes are windows of nothing.
  aqueduct::detail::Window* windows_;
  aqueduct::detail::Window* value_windows_;
  std::vector<SegmentRecord> records_;
};

}  // namespace aqueduct::core
